import java.io.File;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.yarn.sls.SLSRunner;
import org.apache.hadoop.yarn.sls.appmaster.MRAMSimulator;
import org.apache.hadoop.yarn.sls.scheduler.ContainerSimulator;
import org.apache.hadoop.yarn.sls.utils.SLSUtils;

/**
 * Loads jobs.json and nodes.json of folders with the SLSRunner of Hadoop 2.x, as
 * it does before it starts a simulation.
 */
public final class ReadSLS {
    public static void main(String[] folders) throws Exception {
        for (String folder : folders) {
            Rows.input(folder);
            String jobs = new File(folder, "jobs.json").getPath(), nodes = new File(folder, "nodes.json").getPath();
            String metrics = Files.createTempDirectory("sls").toString();
            SLSRunner runner = new SLSRunner(true, new String[] {jobs}, nodes, metrics, new HashSet<>(), false);
            Method load = SLSRunner.class.getDeclaredMethod("startAM");
            load.setAccessible(true);
            load.invoke(runner);
            for (Map.Entry<?, ?> e : new TreeMap<>((Map<?, ?>) field(SLSRunner.class, runner, "amMap")).entrySet()) {
                MRAMSimulator am = (MRAMSimulator) e.getValue();
                int[] tasks = new int[2];
                String id = e.getKey().toString();
                String[] lists = {"pendingMaps", "pendingReduces"};
                for (int kind = 0; kind < lists.length; kind++) {
                    for (Object o : (List<?>) field(MRAMSimulator.class, am, lists[kind])) {
                        ContainerSimulator c = (ContainerSimulator) o;
                        Rows.container(id, c.getType(), c.getLifeTime(), c.getHostname(), c.getPriority());
                        tasks[kind]++;
                    }
                }
                long start = ((Number) field(MRAMSimulator.class.getSuperclass(), am, "traceStartTimeMS")).longValue();
                Rows.job(id, "", field(MRAMSimulator.class.getSuperclass(), am, "user").toString(), am.getQueue(), "SUCCESS", start,
                    ((Number) field(MRAMSimulator.class.getSuperclass(), am, "traceFinishTimeMS")).longValue(), tasks[0], tasks[1]);
            }
            for (String node : SLSUtils.parseNodesFromNodeFile(nodes)) {
                String[] parts = SLSUtils.getRackHostName(node);
                Rows.host(parts[0], parts[1]);
            }
        }
    }

    private static Object field(Class<?> of, Object o, String name) throws ReflectiveOperationException {
        Field f = of.getDeclaredField(name);
        f.setAccessible(true);
        return f.get(o);
    }
}
