import type { CustomerEvent } from './record-event.ts'

export const CHANNELS = ['email', 'webhook'] as const
export type Channel = (typeof CHANNELS)[number]

/** An event that names its channels is sent to these alone; any other event is sent to all. */
export function isSentTo({ data }: Pick<CustomerEvent, 'data'>, channel: Channel): boolean {
  return !Array.isArray(data.channels) || data.channels.includes(channel)
}
