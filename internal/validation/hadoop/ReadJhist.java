import java.io.File;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.FileSystemCounter;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.mapreduce.jobhistory.JobHistoryParser;

/** Reads folders of .jhist files with the JobHistoryParser of Hadoop 2.x. */
public final class ReadJhist {
    public static void main(String[] folders) throws Exception {
        FileSystem local = FileSystem.getLocal(new Configuration());
        for (String folder : folders) {
            Rows.input(folder);
            for (File f : Rows.files(folder, ".jhist")) {
                JobHistoryParser parser = new JobHistoryParser(local, new Path(f.toURI()));
                JobHistoryParser.JobInfo job = parser.parse();
                if (parser.getParseException() != null) {
                    throw new IllegalStateException(f.toString(), parser.getParseException());
                }
                read(job);
            }
        }
    }

    private static void read(JobHistoryParser.JobInfo job) {
        Rows.job(job.getJobId().toString(), job.getJobname(), job.getUsername(), job.getJobQueueName(), job.getJobStatus(),
            job.getSubmitTime(), job.getFinishTime(), job.getTotalMaps(), job.getTotalReduces());
        for (JobHistoryParser.TaskInfo task : job.getAllTasks().values()) {
            for (JobHistoryParser.TaskAttemptInfo a : task.getAllTaskAttempts().values()) {
                boolean won = a.getTaskStatus().equals("SUCCEEDED");
                boolean reduce = won && a.getAttemptId().getTaskType() == TaskType.REDUCE;
                String rack = a.getRackname() == null || a.getRackname().isEmpty() ? "" : a.getRackname() + "/";
                Rows.attempt(a.getAttemptId().toString(), a.getTaskType(), a.getTaskStatus(), a.getStartTime(), a.getFinishTime(),
                    reduce ? a.getShuffleFinishTime() : -1, reduce ? a.getSortFinishTime() : -1, rack + a.getHostname(),
                    won ? counters(a.getCounters()) : new long[0]);
            }
        }
    }

    private static long[] counters(Counters all) {
        return new long[] {
            all.findCounter("HDFS", FileSystemCounter.BYTES_READ).getValue(), all.findCounter("HDFS", FileSystemCounter.BYTES_WRITTEN).getValue(),
            all.findCounter("FILE", FileSystemCounter.BYTES_READ).getValue(), all.findCounter("FILE", FileSystemCounter.BYTES_WRITTEN).getValue(),
            all.findCounter(TaskCounter.SPILLED_RECORDS).getValue(),
        };
    }
}
