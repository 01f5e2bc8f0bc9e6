/** What the operator decides on webhooks. */
export interface WebhookSettings {
  /** Of 32 bytes: signing secrets are sealed with it. */
  readonly sealingKey: Buffer
  /** Also plain http, for sandbox mode. */
  readonly allowHttp: boolean
  /** Also this machine and private networks, for tests and for development. */
  readonly allowPrivate: boolean
}
