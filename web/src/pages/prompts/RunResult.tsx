import type { ReactNode } from 'react'
import { Card } from '../../components/Card.tsx'
import { CopyButton } from '../../components/CopyButton.tsx'
import { Notice } from '../../components/Notice.tsx'
import { SkeletonRows } from '../../components/SkeletonRows.tsx'
import { wholeNumber } from '../../format/number.ts'
import { amount } from '../usage/charge-words.ts'
import type { RunAnswer } from './prompt-queries.ts'
import { finishWords } from './prompt-words.ts'
import { t } from '../../language/t.ts'

interface Props {
  /** The answer of the last run. */
  readonly answer: RunAnswer | undefined
  readonly isPending: boolean
}

export function RunResult({ answer, isPending }: Props) {
  if (isPending)
    return (
      <Card title={t('Resposta')}>
        <SkeletonRows rows={4} label={t('O modelo está respondendo')} />
      </Card>
    )
  if (!answer)
    return (
      <Card title={t('Resposta')}>
        <p className="text-sm text-muted">
          {t('A resposta aparece aqui, com os tokens e quanto ela custou.')}
        </p>
      </Card>
    )
  const text = answer.choices[0]?.message.content ?? ''
  const warning = finishWords(answer)
  const { prompt_tokens, completion_tokens } = answer.usage
  return (
    <Card title={t('Resposta')} actions={text !== '' && <CopyButton text={text} variant="quiet" />}>
      <div role="status" className="grid gap-4">
        {warning !== undefined && <Notice tone="warning">{warning}</Notice>}
        {text === '' ? (
          <p className="text-sm text-muted">{t('O modelo respondeu sem texto.')}</p>
        ) : (
          <p className="text-sm break-words whitespace-pre-wrap">{text}</p>
        )}
        <dl className="grid grid-cols-2 gap-x-4 gap-y-3 border-t border-line pt-4 text-sm sm:grid-cols-4">
          <Figure name={t('Custo')}>
            <span className="font-semibold">{amount(answer.cost_billed_brl)}</span>
          </Figure>
          <Figure name={t('Tokens enviados')}>{wholeNumber(prompt_tokens)}</Figure>
          <Figure name={t('Tokens da resposta')}>{wholeNumber(completion_tokens)}</Figure>
          <Figure name={t('Modelo')}>{answer.model}</Figure>
        </dl>
      </div>
    </Card>
  )
}

function Figure({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-xs text-muted">{name}</dt>
      <dd className="break-words tabular-nums">{children}</dd>
    </div>
  )
}
