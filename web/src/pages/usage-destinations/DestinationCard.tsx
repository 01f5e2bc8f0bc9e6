import type { ReactNode } from 'react'
import { Badge } from '../../components/Badge.tsx'
import { Card } from '../../components/Card.tsx'
import { Notice } from '../../components/Notice.tsx'
import { dateTime } from '../../format/date.ts'
import { counted, wholeNumber } from '../../format/number.ts'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'
import { DestinationActions } from './DestinationActions.tsx'
import { receiverErrorWords, stateWords } from '../webhooks/receiver-words.ts'
import { KIND_WORDS, type Destination } from './destination-queries.ts'

export function DestinationCard({ destination: of }: { readonly destination: Destination }) {
  const { text, tone } = stateWords(
    of,
    of.last_success_at === null
      ? { text: t('nada enviado ainda'), tone: 'neutral' }
      : { text: t('enviando'), tone: 'success' },
  )
  return (
    <Card
      title={KIND_WORDS()[of.kind]}
      description={<span className="break-all">{of.url}</span>}
      actions={<Badge tone={tone}>{text}</Badge>}
    >
      <div className="grid gap-4">
        <Trouble destination={of} />
        <dl className="grid gap-x-6 gap-y-3 text-sm sm:grid-cols-2 lg:grid-cols-4">
          <Fact name={t('Enviadas')}>{counted(of.sent, t('cobrança'), t('cobranças'))}</Fact>
          <Fact name={t('Último envio')}>
            {of.last_success_at === null ? t('nenhum ainda') : dateTime(of.last_success_at)}
          </Fact>
          <Fact name={t('Prompts e respostas')}>
            {of.includes_content ? t('vão, quando armazenados') : t('não vão')}
          </Fact>
          <Fact name={of.kind === 'langfuse' ? t('Chave pública') : t('Cabeçalhos')}>
            {of.kind === 'langfuse' ? of.public_key : of.header_names.join(', ') || t('nenhum')}
          </Fact>
          {of.rejected > 0 && (
            <Fact name={t('Recusadas pelo destino')}>{wholeNumber(of.rejected)}</Fact>
          )}
          {of.given_up > 0 && (
            <Fact name={t('Descartadas após 7 dias')}>{wholeNumber(of.given_up)}</Fact>
          )}
        </dl>
        <TestResult destination={of} />
        <DestinationActions destination={of} />
      </div>
    </Card>
  )
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-xs text-muted">{name}</dt>
      <dd className="break-words tabular-nums">{children}</dd>
    </div>
  )
}

function Trouble({ destination: of }: { readonly destination: Destination }) {
  const isFailing = of.failing_since !== null || of.disabled_reason === 'failing'
  if (!isFailing && of.last_error === null) return null
  return (
    <Notice tone="warning">
      {of.disabled_reason === 'failing' ? (
        <p>
          {t(
            'Desligado porque nada foi aceito por três dias. Corrija e ligue de novo: o que foi cobrado nos últimos sete dias ainda será enviado.',
          )}
        </p>
      ) : (
        of.failing_since !== null && (
          <p>
            <Trans
              id="Os envios falham desde {failingSince}. Nada se perde por sete dias; depois de três dias sem sucesso, o destino é desligado."
              values={{ failingSince: dateTime(of.failing_since) }}
            />
          </p>
        )
      )}
      {of.last_error !== null && <p>{receiverErrorWords(of.last_error, of.last_http_status)}</p>}
      {of.last_answer !== null && (
        <p className="mt-1 font-normal break-all">
          <Trans id="Resposta: {answer}" values={{ answer: <code>{of.last_answer}</code> }} />
        </p>
      )}
      {of.next_try_at !== null && (
        <p className="mt-1 font-normal">
          <Trans
            id="Próxima tentativa: {nextTryAt}."
            values={{ nextTryAt: dateTime(of.next_try_at) }}
          />
        </p>
      )}
    </Notice>
  )
}

function TestResult({ destination: of }: { readonly destination: Destination }) {
  const { test } = of
  if (test === null) return null
  if (test.tested_at === null)
    return of.is_enabled ? <Notice role="status">{t('Enviando o teste…')}</Notice> : null
  return test.error === null ? (
    <Notice tone="success" role="status">
      <Trans
        id="O teste de {testedAt} foi aceito: procure o span “catraca test”."
        values={{ testedAt: dateTime(test.tested_at) }}
      />
    </Notice>
  ) : (
    <Notice tone="danger" role="alert">
      <Trans
        id="O teste de {testedAt} falhou. {reason}"
        values={{
          testedAt: dateTime(test.tested_at),
          reason: receiverErrorWords(test.error, of.last_http_status),
        }}
      />
    </Notice>
  )
}
