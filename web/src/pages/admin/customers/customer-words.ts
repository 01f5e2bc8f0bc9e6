import { counted } from '../../../format/number.ts'
import type { CustomerDetail } from './customer-queries.ts'
import { t } from '../../../language/t.ts'

/** As in "2 ativas · 1 revogada"; states without keys are left out. */
export function keysText({ active, suspended, revoked, expired }: CustomerDetail['keys']): string {
  const parts = [
    active > 0 && counted(active, t('ativa'), t('ativas')),
    suspended > 0 && counted(suspended, t('suspensa'), t('suspensas')),
    revoked > 0 && counted(revoked, t('revogada'), t('revogadas')),
    expired > 0 && counted(expired, t('vencida'), t('vencidas')),
  ].filter((part) => part !== false)
  return parts.length === 0 ? t('nenhuma') : parts.join(' · ')
}
