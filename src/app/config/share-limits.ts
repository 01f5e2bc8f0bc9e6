import type { Config } from './config.ts'

/**
 * Returns the configuration of one of several workers: limits of the machine's memory and disk are for all of them
 * together, so each gets its part, but never less than one whole body or file needs.
 */
export function shareLimits(config: Config, workers: number): Config {
  const { bodyBytesMax, bodiesBytesMax, uploadBytesMax, uploadsBytesMax, connectionsMax } = config
  return {
    ...config,
    connectionsMax: connectionsMax === undefined ? undefined : Math.ceil(connectionsMax / workers),
    bodiesBytesMax: Math.max(Math.floor(bodiesBytesMax / workers), bodyBytesMax),
    uploadsBytesMax: Math.max(Math.floor(uploadsBytesMax / workers), uploadBytesMax),
  }
}
