import { counted } from '../../../format/number.ts'
import type { CustomerDetail } from './customer-queries.ts'

export const SUSPENSION_REASON: Readonly<
  Record<NonNullable<CustomerDetail['suspension']>['reason'], string>
> = {
  chargeback: 'uma recarga foi contestada (chargeback)',
  operator: 'decisão de um operador',
}

/** As in "2 ativas · 1 revogada"; states without keys are left out. */
export function keysText({ active, suspended, revoked, expired }: CustomerDetail['keys']): string {
  const parts = [
    active > 0 && counted(active, 'ativa', 'ativas'),
    suspended > 0 && counted(suspended, 'suspensa', 'suspensas'),
    revoked > 0 && counted(revoked, 'revogada', 'revogadas'),
    expired > 0 && counted(expired, 'vencida', 'vencidas'),
  ].filter((part) => part !== false)
  return parts.length === 0 ? 'nenhuma' : parts.join(' · ')
}
