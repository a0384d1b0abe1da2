import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import org.elasticsearch.common.logging.LogConfigurator;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.env.Environment;
import org.elasticsearch.node.InternalSettingsPreparer;
import org.elasticsearch.node.Node;
import org.elasticsearch.plugins.PluginsLoader;

/** One node on a port of loopback, until its input ends. Arguments: home, data, port. */
public class Server {
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
        LogConfigurator.configureESLogging();
        LogConfigurator.configureWithoutConfig(settings);
        Environment environment =
            InternalSettingsPreparer.prepareEnvironment(settings, Map.of(), Path.of(args[0], "config"), () -> "test");
        PluginsLoader plugins =
            PluginsLoader.createPluginsLoader(
                PluginsLoader.loadModulesBundles(environment.modulesDir()), Set.of(), Map.of(), false);
        new Node(environment, plugins).start();
        System.in.read();
        // Nothing is kept: an orderly end would only take longer.
        Runtime.getRuntime().halt(0);
    }
}
