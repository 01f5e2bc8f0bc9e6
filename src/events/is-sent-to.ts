import type { CustomerEvent } from './record-event.ts'

export const CHANNELS = ['email', 'webhook'] as const
export type Channel = (typeof CHANNELS)[number]

/** Events that name their channels go by no other; the rest go by all. */
export function isSentTo({ data }: Pick<CustomerEvent, 'data'>, channel: Channel): boolean {
  return !Array.isArray(data.channels) || data.channels.includes(channel)
}
