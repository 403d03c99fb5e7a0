import java.io.File;
import java.net.URLEncoder;
import java.util.Arrays;

/** Prints what a reader of Hadoop found, one row per job and attempt, separated by tabs. */
final class Rows {
    private Rows() {}

    /** Begins the rows of one input. */
    static void input(String path) {
        row("input", path);
    }

    /** Prints a job. An unknown number is -1, an unknown text empty. */
    static void job(String id, String name, String user, String queue, String outcome, long submit, long finish, long maps, long reduces) {
        row("job", id, text(name), text(user), text(queue), state(outcome), submit, finish, maps, reduces);
    }

    /** Prints an attempt. The counters are the bytes read and written in HDFS and on local disks, and spilled records. */
    static void attempt(String id, Object kind, Object state, long start, long finish, long shuffled, long sorted, String host, long... counters) {
        StringBuilder list = new StringBuilder();
        for (long c : counters) {
            list.append(list.length() > 0 ? "," : "").append(c);
        }
        row("attempt", id, kind.toString().replace("JOB_", ""), state(state), start, finish, shuffled, sorted, text(host), list);
    }

    /** Prints a container of SLS, which has no id. */
    static void container(String job, String kind, long duration, String host, int priority) {
        row("container", job, kind, duration, text(host), priority);
    }

    /** Prints a machine. */
    static void host(String rack, String host) {
        row("host", text(rack), text(host));
    }

    /** Lists the files of a folder by name, those that end in a suffix. */
    static File[] files(String folder, String suffix) {
        File[] all = new File(folder).listFiles((dir, name) -> name.endsWith(suffix) && !name.equals("manifest.json"));
        Arrays.sort(all);
        return all;
    }

    private static String state(Object s) {
        return s == null ? "" : s.toString().replace("SUCCEEDED", "SUCCESS");
    }

    private static String text(String s) {
        try {
            return s == null ? "" : URLEncoder.encode(s, "UTF-8");
        } catch (java.io.UnsupportedEncodingException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void row(Object... cells) {
        StringBuilder line = new StringBuilder();
        for (Object c : cells) {
            line.append(line.length() > 0 ? "\t" : "").append(c);
        }
        System.out.println(line);
    }
}
