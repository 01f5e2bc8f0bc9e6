import type { Mutant } from './make-mutants.ts'

export type Equivalent = Pick<Mutant, 'file' | 'line' | 'becomes'> & {
  readonly reason: string
}

/** Mutants that no test can tell from the program, or that change only what no promise is about. */
export const EQUIVALENTS: readonly Equivalent[] = []
