/** The operator's company. Decreto 7.962/2013, art. 2: every page and mail names it. */
export interface Company {
  readonly name: string
  /** Without punctuation. */
  readonly cnpj: string
  readonly address: string
  readonly contactEmail: string
}
