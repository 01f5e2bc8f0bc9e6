import { Link } from '@tanstack/react-router'
import { CircleCheck, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { CopyButton } from '../../components/CopyButton.tsx'
import { calendarDay } from '../../format/calendar-day.ts'
import { wholeNumber } from '../../format/number.ts'
import { chargeSteps } from './charge-steps.ts'
import { ShareBill } from './ShareBill.tsx'
import { unitWords } from './token-words.ts'
import type { Charge } from './usage-queries.ts'
import { perLanguage } from '../../language/per-language.ts'
import { t } from '../../language/t.ts'

/** Explains an amount: the counted units, their cost, the exchange rate and the markup. */
export function ChargeDetails({ charge }: { readonly charge: Charge }) {
  const steps = chargeSteps(charge)
  return (
    <div className="grid gap-5">
      <section aria-label={t('Como chegamos a este valor')} className="grid gap-3">
        <p className="text-sm font-semibold">{t('Como chegamos a este valor')}</p>
        <ol className="grid items-stretch gap-2 text-sm lg:grid-cols-[1fr_auto_1fr_auto_1fr_auto_1fr] lg:items-center">
          <Step value={`US$\u00a0${steps.costUsd}`} text={t('custo no provedor')} />
          <Sign text="×" spoken={t('vezes')} />
          <Step
            value={`R$\u00a0${steps.rate}`}
            text={t('por dólar, {fxRateSource} de {fxRateDate}', {
              fxRateSource: sourceText(charge.fx_rate_source),
              fxRateDate: calendarDay(charge.fx_rate_date),
            })}
          />
          <Sign text="×" spoken={t('vezes')} />
          <Step value={steps.markup} text={t('multiplicador do modelo')} />
          <Sign text="=" spoken={t('é igual a')} />
          <Step value={`R$\u00a0${steps.billedBrl}`} text={t('cobrado do seu saldo')} isResult />
        </ol>
        <p className="flex items-start gap-2 text-xs text-muted">
          {steps.isAsCharged ? (
            <>
              <CircleCheck aria-hidden className="mt-0.5 size-4 shrink-0 text-success" />
              {t(
                'Cálculo refeito agora, no seu navegador: o resultado é exatamente o valor cobrado.',
              )}
            </>
          ) : (
            <>
              <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-warning" />
              {t(
                'Refeito aqui, o cálculo não chega a este valor. Avise o suporte com o ID da requisição.',
              )}
            </>
          )}
        </p>
      </section>
      <dl className="grid grid-cols-[repeat(auto-fill,minmax(9.5rem,1fr))] gap-x-6 gap-y-3 text-sm">
        {countsOf(charge).map(([name, value]) => (
          <Fact key={name} name={name}>
            {value}
          </Fact>
        ))}
        <Fact name={t('Medição')}>{MEASURED()[charge.usage_kind]}</Fact>
        <Fact name={t('Chave')}>{charge.api_key_name ?? t('Painel')}</Fact>
        {charge.session_id !== null && (
          <Fact name={t('Sessão')}>
            <Link
              to="/sessoes/$id"
              params={{ id: charge.session_id }}
              className="font-medium break-all text-accent underline underline-offset-4"
            >
              {charge.session_id}
            </Link>
          </Fact>
        )}
        {charge.corrects_id !== null && (
          <Fact name={t('Corrige a cobrança')} isWide>
            <code className="break-all">{charge.corrects_id}</code>
          </Fact>
        )}
        <Fact name={t('ID da requisição')} isWide>
          <span className="flex items-center gap-1">
            <code className="break-all">{charge.request_id}</code>
            <CopyButton text={charge.request_id} variant="quiet" />
          </span>
        </Fact>
      </dl>
      {charge.corrects_id === null && <ShareBill of={{ usage_event_id: charge.id }} />}
    </div>
  )
}

const MEASURED = perLanguage((): Readonly<Record<Charge['usage_kind'], string>> => ({
  exact: t('exata, informada pelo modelo'),
  estimated: t('estimada: o modelo não informou o consumo'),
  none: t('sem consumo'),
}))

function Step(props: {
  readonly value: string
  readonly text: string
  readonly isResult?: boolean
}) {
  return (
    <li
      className={`rounded-lg border px-3 py-2 ${props.isResult ? 'border-accent bg-accent-soft' : 'border-line bg-surface'}`}
    >
      <span className="block font-semibold break-all tabular-nums">{props.value}</span>
      <span className="block text-xs text-muted">{props.text}</span>
    </li>
  )
}

function Sign({ text, spoken }: { readonly text: string; readonly spoken: string }) {
  return (
    <li className="px-1 text-center text-muted">
      <span aria-hidden>{text}</span>
      <span className="sr-only">{spoken}</span>
    </li>
  )
}

function Fact(props: {
  readonly name: string
  readonly isWide?: boolean
  readonly children: ReactNode
}) {
  return (
    <div className={props.isWide ? 'col-span-full' : ''}>
      <dt className="text-xs text-muted">{props.name}</dt>
      <dd className="tabular-nums">{props.children}</dd>
    </div>
  )
}

function countsOf(charge: Charge): readonly (readonly [string, string])[] {
  const tokens = [
    [t('Tokens de entrada'), charge.prompt_tokens],
    [t('lidos do cache'), charge.cached_tokens || null],
    [t('gravados no cache'), charge.cache_write_tokens || null],
    [t('Tokens de saída'), charge.completion_tokens],
    [t('de raciocínio'), charge.reasoning_tokens || null],
  ] as const
  return [
    ...tokens.flatMap(([name, count]) =>
      count === null ? [] : [[name, wholeNumber(count)] as const],
    ),
    ...Object.entries(charge.units ?? {}).map(
      ([unit, count]) => [unitWords(unit, 2), wholeNumber(count)] as const,
    ),
  ]
}

/** The usual names of exchange rate sources. */
function sourceText(source: string): string {
  if (source === 'sandbox') return t('taxa fictícia do modo de teste')
  return source === 'manual' ? t('informado pela operação') : 'PTAX'
}
