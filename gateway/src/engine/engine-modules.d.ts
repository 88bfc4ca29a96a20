// The parts of express-gateway that the gateway uses; the package declares no types for them.
declare module 'express-gateway/lib/config/config.js' {
  export default class EngineConfig {
    systemConfig: { plugins?: Record<string, unknown> };
    gatewayConfig: import('../entry/gateway-config.ts').GatewayConfig;
    /** Reads the file from the folder in `EG_CONFIG_DIR` and checks it against the engine's schema. */
    loadConfig(type: 'system' | 'gateway'): void;
  }
}

declare module 'express-gateway/lib/policies/index.js' {
  const registry: {
    register(policy: object): void;
    readonly policies: Readonly<Record<string, unknown>>;
  };
  export default registry;
}
