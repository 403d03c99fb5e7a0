import java.io.File;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.tools.rumen.ClusterTopologyReader;
import org.apache.hadoop.tools.rumen.JobTraceReader;
import org.apache.hadoop.tools.rumen.LoggedJob;
import org.apache.hadoop.tools.rumen.LoggedNetworkTopology;
import org.apache.hadoop.tools.rumen.LoggedTask;
import org.apache.hadoop.tools.rumen.LoggedTaskAttempt;
import org.apache.hadoop.tools.rumen.TraceBuilder;
import org.apache.hadoop.util.ToolRunner;

/**
 * Reads Rumen traces (trace.json and topology.json of a folder) with Rumen of
 * Hadoop 1.x or 2.x. A folder without a trace holds job histories, of which
 * TraceBuilder makes one.
 */
public final class ReadRumen {
    public static void main(String[] folders) throws Exception {
        Configuration conf = new Configuration();
        for (String folder : folders) {
            Rows.input(folder);
            File trace = new File(folder, "trace.json"), topology = new File(folder, "topology.json");
            if (!trace.exists()) {
                File built = java.nio.file.Files.createTempDirectory("rumen").toFile();
                trace = new File(built, "trace.json");
                topology = new File(built, "topology.json");
                List<String> args = new ArrayList<>(Arrays.asList(trace.toURI().toString(), topology.toURI().toString()));
                for (File f : Rows.files(folder, "")) {
                    if (!f.getName().equals("manifest.json") && !f.getName().startsWith(".")) {
                        args.add(f.getAbsolutePath()); // a URI would be escaped twice
                    }
                }
                if (ToolRunner.run(conf, new TraceBuilder(), args.toArray(new String[0])) != 0) {
                    throw new IllegalStateException("TraceBuilder failed: " + folder);
                }
            }
            try (JobTraceReader reader = new JobTraceReader(new Path(trace.toURI()), conf)) {
                for (LoggedJob j = reader.getNext(); j != null; j = reader.getNext()) {
                    read(j);
                }
            }
            LoggedNetworkTopology root = new ClusterTopologyReader(new Path(topology.toURI()), conf).get();
            for (LoggedNetworkTopology rack : root.getChildren()) {
                for (LoggedNetworkTopology host : rack.getChildren()) {
                    Rows.host(text(rack.getName()), text(host.getName()));
                }
            }
        }
    }

    private static void read(LoggedJob j) {
        Rows.job(String.valueOf(j.getJobID()), text(j.getJobName()), text(j.getUser()), text(j.getQueue()), String.valueOf(j.getOutcome()), j.getSubmitTime(), j.getFinishTime(), j.getTotalMaps(), j.getTotalReduces());
        List<LoggedTask> tasks = new ArrayList<>(j.getMapTasks());
        tasks.addAll(j.getReduceTasks());
        tasks.addAll(j.getOtherTasks());
        for (LoggedTask t : tasks) {
            for (LoggedTaskAttempt a : t.getAttempts()) {
                boolean won = String.valueOf(a.getResult()).equals("SUCCESS");
                Rows.attempt(String.valueOf(a.getAttemptID()), t.getTaskType(), a.getResult(), a.getStartTime(), a.getFinishTime(),
                    won ? a.getShuffleFinished() : -1, won ? a.getSortFinished() : -1, host(a),
                    won ? new long[] {a.getHdfsBytesRead(), a.getHdfsBytesWritten(), a.getFileBytesRead(), a.getFileBytesWritten(), a.getSpilledRecords()}
                        : new long[0]);
            }
        }
    }

    /** Returns the machine. TraceBuilder of 1.x states only its location where an attempt did not succeed. */
    private static String host(LoggedTaskAttempt a) {
        if (text(a.getHostName()) != null || a.getLocation() == null) {
            return text(a.getHostName());
        }
        StringBuilder path = new StringBuilder();
        for (Object layer : a.getLocation().getLayers()) {
            path.append("/").append(text(layer));
        }
        return path.toString();
    }

    /** Returns a text, which is a String in 1.x and has a class of its own in 2.x. */
    private static String text(Object o) {
        if (o == null || o instanceof String) {
            return (String) o;
        }
        try {
            return (String) o.getClass().getMethod("getValue").invoke(o);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }
}
