/** The environment variables of the process; only `config.ts` receives them. */
export type Environment = Readonly<Record<string, string | undefined>>
