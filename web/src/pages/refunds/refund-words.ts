import type { BadgeTone } from '../../components/Badge.tsx'
import type { Refund } from './refund-queries.ts'
import { perLanguage } from '../../language/per-language.ts'
import { t } from '../../language/t.ts'

export const REFUND_STATUS = perLanguage(
  (): Readonly<Record<Refund['status'], { text: string; tone: BadgeTone }>> => ({
    requested: { text: t('Em análise'), tone: 'warning' },
    approved: { text: t('Aprovado'), tone: 'accent' },
    processing: { text: t('Em andamento'), tone: 'accent' },
    done: { text: t('Devolvido'), tone: 'success' },
    rejected: { text: t('Recusado'), tone: 'danger' },
    failed: { text: t('Não deu certo'), tone: 'danger' },
  }),
)

/** Only for states that need more explanation than the badge. */
export const REFUND_MEANING = perLanguage(
  (): Readonly<Partial<Record<Refund['status'], string>>> => ({
    requested: t('Uma pessoa da nossa equipe vai olhar. Avisamos por e-mail.'),
    rejected: t('O valor voltou ao seu saldo.'),
    failed: t(
      'O que não voltou a você está de novo no seu saldo. Tente outra vez ou fale com a gente.',
    ),
  }),
)

export const PART_STATUS = perLanguage(
  (): Readonly<Record<Refund['parts'][number]['status'], string>> => ({
    waiting: t('na fila'),
    sent: t('a caminho'),
    done: t('devolvido'),
    failed: t('não deu certo'),
    taken: t('já voltou por outro caminho, como uma contestação'),
  }),
)
