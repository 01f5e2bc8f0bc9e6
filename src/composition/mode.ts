export const MODES = ['sandbox', 'live'] as const
export type Mode = (typeof MODES)[number]
