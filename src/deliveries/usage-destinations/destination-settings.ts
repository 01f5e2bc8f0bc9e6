/** The operator's settings of destinations: those of webhooks. */
export interface DestinationSettings {
  /** 32 bytes; the headers of destinations are sealed with it. */
  readonly sealingKey: Buffer
  /** Opens headers that were sealed before the key changed. */
  readonly previousSealingKey?: Buffer | undefined
  /** Also send over plain http; for sandbox mode. */
  readonly allowHttp: boolean
  /** Also send to this machine and to private networks; for tests and development. */
  readonly allowPrivate: boolean
}
