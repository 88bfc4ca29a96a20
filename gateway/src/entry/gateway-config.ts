// gateway.config.yml as the engine reads it and passes it to the policies.

export interface GatewayConfig {
  readonly apiEndpoints: Readonly<Record<string, unknown>>;
  readonly serviceEndpoints: Readonly<Record<string, { readonly url?: string }>>;
  readonly policies: readonly string[];
  readonly pipelines: Readonly<Record<string, EnginePipeline>>;
}

interface EnginePipeline {
  readonly apiEndpoints: readonly string[];
  readonly policies: readonly Readonly<Record<string, unknown>>[];
}
