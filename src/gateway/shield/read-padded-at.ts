import { readTaxId } from '../../platform/lib/tax-id.ts'
import type { Found } from './found.ts'
import { standsAlone } from './read-groups.ts'
import { CNPJ_RUNS, CPF_RUNS, readCnpjAt, readCpfAt } from './read-tax-id-at.ts'

/** Fields for either number have the length of a CNPJ, or one more. */
const ZEROS_MAX = { cpf: 4, cnpj: 1 } as const
/** A number in a spreadsheet or in JSON loses its leading zeros. */
const CUT = /^[1-9]\d{8,9}$/
const CPF_WORD = /cpf[^0-9a-z]{0,6}$/i
const CPF_WORD_BEFORE = 9
const CPF_LENGTH = 11

/** The CPF or CNPJ with more or fewer leading zeros, whose run of digits begins here. */
export function readPaddedAt(text: string, start: number, runEnd: number): Found | undefined {
  const run = runEnd - start
  for (let zeros = 1; zeros <= ZEROS_MAX.cpf && text[start + zeros - 1] === '0'; zeros += 1) {
    const found =
      (CPF_RUNS.has(run - zeros) ? readCpfAt(text, start + zeros) : undefined) ??
      (zeros <= ZEROS_MAX.cnpj && CNPJ_RUNS.has(run - zeros)
        ? readCnpjAt(text, start + zeros)
        : undefined)
    if (found !== undefined && standsAlone(text, start, found.end)) return { ...found, start }
  }
  const digits = text.slice(start, runEnd)
  if (run < 9 || !CUT.test(digits) || !standsAlone(text, start, runEnd)) return undefined
  if (!CPF_WORD.test(text.slice(Math.max(0, start - CPF_WORD_BEFORE), start))) return undefined
  const canonical = digits.padStart(CPF_LENGTH, '0')
  const { kind } = readTaxId(canonical)
  return kind === 'cpf' ? { kind, start, end: runEnd, canonical } : undefined
}
