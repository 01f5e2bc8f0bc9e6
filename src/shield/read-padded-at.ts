import { readTaxId } from '../lib/tax-id.ts'
import type { Found } from './found.ts'
import { standsAlone } from './read-groups.ts'

/** Fields for either number have the length of a CNPJ, or one more. */
const PADDED = /^(?:000\d{11}|0000\d{11}|0\d{14})$/
/** A number in a spreadsheet or in JSON loses its leading zeros. */
const CUT = /^[1-9]\d{8,9}$/
const CPF_WORD = /cpf[^0-9a-z]{0,6}$/i
const CPF_WORD_BEFORE = 9
const CPF_LENGTH = 11
const CNPJ_LENGTH = 14

/** The CPF or CNPJ with more or fewer leading zeros, whose run of digits begins here. */
export function readPaddedAt(text: string, start: number, end: number): Found | undefined {
  const run = text.slice(start, end)
  const candidates = PADDED.test(run)
    ? [run.slice(-CPF_LENGTH), run.slice(-CNPJ_LENGTH)]
    : CUT.test(run) && CPF_WORD.test(text.slice(Math.max(0, start - CPF_WORD_BEFORE), start))
      ? [run.padStart(CPF_LENGTH, '0')]
      : []
  for (const canonical of candidates) {
    const { kind } = readTaxId(canonical)
    if ((kind === 'cpf' || kind === 'cnpj') && standsAlone(text, start, end))
      return { kind, start, end, canonical }
  }
  return undefined
}
