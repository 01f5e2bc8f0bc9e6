/** The variables of the process; only `config.ts` is handed them. */
export type Environment = Readonly<Record<string, string | undefined>>
