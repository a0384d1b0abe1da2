import java.util.List;
import java.util.Map;
import org.opensearch.analysis.common.CommonAnalysisPlugin;
import org.opensearch.common.settings.Settings;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.node.Node;
import org.opensearch.transport.Netty4Plugin;

/** One node on a port of loopback, until its input ends. Arguments: home, data, port. */
public class Server extends Node {
    private Server(Settings settings) {
        super(
            InternalSettingsPreparer.prepareEnvironment(settings, Map.of(), null, () -> "test"),
            List.of(Netty4Plugin.class, CommonAnalysisPlugin.class),
            false);
    }

    public static void main(String[] args) throws Exception {
        Settings settings =
            Settings.builder()
                .put("path.home", args[0])
                .put("path.data", args[1])
                .put("cluster.name", "headwater-tests")
                .put("node.name", "test")
                .put("network.host", "127.0.0.1")
                .put("http.port", args[2])
                .put("transport.port", "0")
                .put("discovery.type", "single-node")
                .put("cluster.routing.allocation.disk.threshold_enabled", false)
                .build();
        new Server(settings).start();
        System.in.read();
        // Nothing is kept: an orderly end would only take longer.
        Runtime.getRuntime().halt(0);
    }
}
