import type { Health, Queue } from './health-queries.ts'
import { perLanguage } from '../../../language/per-language.ts'
import { t } from '../../../language/t.ts'
import { language } from '../../../language/language.ts'

export const QUEUE_WORDS = perLanguage((): Readonly<Record<Queue['name'], string>> => ({
  events: t('Eventos por distribuir'),
  webhook_attempts: t('Entregas de webhooks'),
  usage_destinations: t('Destinos de uso'),
  mails: t('E-mails por enviar'),
  processor_events: t('Avisos do processador de pagamentos'),
}))

type Trouble = NonNullable<Health['database']['read_replicas'][number]['trouble']>

/** Why a replica is not read. */
export const REPLICA_WORDS = perLanguage((): Readonly<Record<Trouble, string>> => ({
  starting: t('ainda não alcançou o presente'),
  unreachable: t('não responde'),
  behind: t('está atrasada demais'),
  takes_writes: t('aceita gravações, não é réplica'),
  other_system: t('é de outro banco de dados'),
}))

const BYTES = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte']

/** 9123456789 -> 9,1 GB */
export function byteWords(bytes: number): string {
  const power = Math.min(BYTES.length - 1, Math.floor(Math.log10(Math.max(bytes, 1)) / 3))
  return new Intl.NumberFormat(language(), {
    style: 'unit',
    unit: BYTES[power] as string,
    maximumFractionDigits: 1,
  }).format(bytes / 1000 ** power)
}
