/** Mails to operators. */
import type { Template } from './mail-content.ts'

export const OPERATOR_TEMPLATES = {
  precos_diferentes: (data) => ({
    isToStranger: true,
    subject: 'Preços diferentes dos publicados',
    paragraphs: [
      'Os preços em vigor de alguns modelos são diferentes dos preços publicados pelos provedores. Enquanto isso, as chamadas são cobradas pelos preços em vigor.',
      'Confira com "npm run catraca -- prices check" e acerte com "prices set". Se a diferença é intencional, não faça nada: ela não será avisada de novo.',
    ],
    facts: [
      ['Modelos', data.text('models')],
      ['Quantidade', data.count('models_count')],
      ['Data', data.time('at')],
    ],
  }),
} satisfies Record<string, Template>
