import java.io.File;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.mapred.Counters;
import org.apache.hadoop.mapred.DefaultJobHistoryParser;
import org.apache.hadoop.mapred.JobHistory;

/** Reads folders of job histories with the JobHistory of Hadoop 0.20.2 or 1.x. */
public final class ReadHistory {
    public static void main(String[] folders) throws Exception {
        FileSystem local = FileSystem.getLocal(new Configuration());
        for (String folder : folders) {
            Rows.input(folder);
            for (File f : Rows.files(folder, "")) {
                if (f.getName().endsWith(".xml") || f.getName().equals("manifest.json") || f.getName().startsWith(".")) {
                    continue;
                }
                JobHistory.JobInfo job = new JobHistory.JobInfo("");
                DefaultJobHistoryParser.parseJobTasks(f.getPath(), job, local);
                read(job);
            }
        }
    }

    private static void read(JobHistory.JobInfo job) throws Exception {
        Rows.job(job.get(JobHistory.Keys.JOBID), job.get(JobHistory.Keys.JOBNAME), job.get(JobHistory.Keys.USER), queue(job),
            job.get(JobHistory.Keys.JOB_STATUS), job.getLong(JobHistory.Keys.SUBMIT_TIME), job.getLong(JobHistory.Keys.FINISH_TIME),
            job.getLong(JobHistory.Keys.TOTAL_MAPS), job.getLong(JobHistory.Keys.TOTAL_REDUCES));
        for (JobHistory.Task task : job.getAllTasks().values()) {
            for (Map.Entry<String, JobHistory.TaskAttempt> e : task.getTaskAttempts().entrySet()) {
                JobHistory.TaskAttempt a = e.getValue();
                boolean won = a.get(JobHistory.Keys.TASK_STATUS).equals("SUCCESS");
                boolean reduce = won && a.get(JobHistory.Keys.SHUFFLE_FINISHED).length() > 0;
                Rows.attempt(e.getKey(), a.get(JobHistory.Keys.TASK_TYPE), a.get(JobHistory.Keys.TASK_STATUS),
                    a.getLong(JobHistory.Keys.START_TIME), a.getLong(JobHistory.Keys.FINISH_TIME),
                    reduce ? a.getLong(JobHistory.Keys.SHUFFLE_FINISHED) : -1, reduce ? a.getLong(JobHistory.Keys.SORT_FINISHED) : -1,
                    a.get(JobHistory.Keys.HOSTNAME), won ? counters(a.get(JobHistory.Keys.COUNTERS)) : new long[0]);
            }
        }
    }

    /** Returns the queue, for which 0.20.2 has no key. */
    private static String queue(JobHistory.JobInfo job) {
        for (JobHistory.Keys k : JobHistory.Keys.values()) {
            if (k.name().equals("JOB_QUEUE")) {
                return job.get(k);
            }
        }
        return "";
    }

    private static long[] counters(String text) throws Exception {
        Counters all = Counters.fromEscapedCompactString(text);
        Counters.Group files = all.getGroup("FileSystemCounters");
        return new long[] {
            files.getCounter("HDFS_BYTES_READ"), files.getCounter("HDFS_BYTES_WRITTEN"), files.getCounter("FILE_BYTES_READ"),
            files.getCounter("FILE_BYTES_WRITTEN"), all.getGroup("org.apache.hadoop.mapred.Task$Counter").getCounterForName("SPILLED_RECORDS").getCounter(),
        };
    }
}
