import type { Health, Queue } from './health-queries.ts'

export const QUEUE_WORDS: Readonly<Record<Queue['name'], string>> = {
  events: 'Eventos por distribuir',
  webhook_attempts: 'Entregas de webhooks',
  mails: 'E-mails por enviar',
  processor_events: 'Avisos do processador de pagamentos',
}

type Trouble = NonNullable<Health['database']['read_replicas'][number]['trouble']>

/** Why a replica is not read. */
export const REPLICA_WORDS: Readonly<Record<Trouble, string>> = {
  starting: 'ainda não alcançou o presente',
  unreachable: 'não responde',
  behind: 'está atrasada demais',
  takes_writes: 'aceita gravações, não é réplica',
  other_system: 'é de outro banco de dados',
}

const BYTES = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte']

/** 9123456789 -> 9,1 GB */
export function byteWords(bytes: number): string {
  const power = Math.min(BYTES.length - 1, Math.floor(Math.log10(Math.max(bytes, 1)) / 3))
  return new Intl.NumberFormat('pt-BR', {
    style: 'unit',
    unit: BYTES[power] as string,
    maximumFractionDigits: 1,
  }).format(bytes / 1000 ** power)
}
