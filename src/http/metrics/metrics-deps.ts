export interface MetricsDeps {
  readonly metrics: { readonly contentType: string; text(): Promise<string> }
  /** Lets callers that are not on this machine read `/metrics`. */
  readonly metricsToken: string | undefined
}
