import type { BadgeTone } from '../../components/Badge.tsx'
import { brl } from '../../format/brl.ts'
import { parseAmount } from '../../format/parse-amount.ts'
import type { Rank, Role, Team } from './team-queries.ts'
import { perLanguage } from '../../language/per-language.ts'
import { t } from '../../language/t.ts'

/** The API's limit. */
const CAP_BRL_MAX = 1_000_000

export const RANK_WORDS = perLanguage(
  (): Readonly<Record<Rank, { readonly text: string; readonly tone: BadgeTone }>> => ({
    owner: { text: t('Titular'), tone: 'accent' },
    admin: { text: t('Administrador'), tone: 'warning' },
    member: { text: t('Membro'), tone: 'neutral' },
  }),
)

export const ROLE_HINTS = perLanguage((): Readonly<Record<Role, string>> => ({
  member: t('Cria as próprias chaves e vê só o que é seu.'),
  admin: t('Também convida, tira pessoas, muda o nome da equipe e vê todas as chaves.'),
}))

/** Owners and admins manage a team; the API refuses management by members. */
export function isManager(role: Rank): boolean {
  return role !== 'member'
}

/** States whose money the team spends and how much, from the reader's point of view. */
export function moneyWords({ role, owner, monthly_cap_brl: cap }: Team): string {
  const upTo =
    cap === null
      ? t('sem limite por mês: até o saldo acabar')
      : t('até {cap} por mês; no dia 1º a contagem recomeça', { cap: brl(cap) })
  return role === 'owner'
    ? t('As chaves desta equipe gastam o seu saldo, {upTo}.', { upTo })
    : t('As chaves desta equipe gastam o saldo de {owner}, e não o seu, {upTo}.', { owner, upTo })
}

/** `null`: no cap. A string: the text of the fault. */
export function readCap(text: string): number | null | string {
  if (text === '') return null
  const amount = parseAmount(text)
  if (amount === undefined) return t('Digite um valor em reais, como 500 ou 49,90.')
  if (amount <= 0 || amount > CAP_BRL_MAX) return t('Use um valor de R$ 0,01 a R$ 1.000.000,00.')
  return amount
}

/** Counts code points, as the API does. */
export function teamNameFault(name: string): string | undefined {
  const length = Array.from(name).length
  return length < 3 || length > 50 ? t('O nome precisa ter de 3 a 50 caracteres.') : undefined
}
