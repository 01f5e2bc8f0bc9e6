/** The operator's settings of webhooks. */
export interface WebhookSettings {
  /** 32 bytes; signing secrets are sealed with it. */
  readonly sealingKey: Buffer
  /** Opens secrets that were sealed before the key changed. */
  readonly previousSealingKey?: Buffer | undefined
  /** Also accept plain http; for sandbox mode. */
  readonly allowHttp: boolean
  /** Also deliver to this machine and to private networks; for tests and development. */
  readonly allowPrivate: boolean
}
