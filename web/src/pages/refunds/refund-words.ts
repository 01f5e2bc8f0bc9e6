import type { BadgeTone } from '../../components/Badge.tsx'
import type { Refund } from './refund-queries.ts'

export const REFUND_STATUS: Readonly<Record<Refund['status'], { text: string; tone: BadgeTone }>> =
  {
    requested: { text: 'Em análise', tone: 'warning' },
    approved: { text: 'Aprovado', tone: 'accent' },
    processing: { text: 'Em andamento', tone: 'accent' },
    done: { text: 'Devolvido', tone: 'success' },
    rejected: { text: 'Recusado', tone: 'danger' },
    failed: { text: 'Não deu certo', tone: 'danger' },
  }

/** Only for states that need more explanation than the badge. */
export const REFUND_MEANING: Readonly<Partial<Record<Refund['status'], string>>> = {
  requested: 'Uma pessoa da nossa equipe vai olhar. Avisamos por e-mail.',
  rejected: 'O valor voltou ao seu saldo.',
  failed: 'O que não voltou a você está de novo no seu saldo. Tente outra vez ou fale com a gente.',
}

export const PART_STATUS: Readonly<Record<Refund['parts'][number]['status'], string>> = {
  waiting: 'na fila',
  sent: 'a caminho',
  done: 'devolvido',
  failed: 'não deu certo',
  taken: 'já voltou por outro caminho, como uma contestação',
}
