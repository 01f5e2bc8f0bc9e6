/** What the operator decides on webhooks. */
export interface WebhookSettings {
  /** Of 32 bytes: signing secrets are sealed with it. */
  readonly sealingKey: Buffer
  /** For what the key before it sealed. */
  readonly previousSealingKey?: Buffer | undefined
  /** Also plain http, for sandbox mode. */
  readonly allowHttp: boolean
  /** Also this machine and private networks, for tests and for development. */
  readonly allowPrivate: boolean
}
