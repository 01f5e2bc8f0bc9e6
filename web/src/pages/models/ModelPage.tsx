/** `/modelos/<id>` in the dashboard: a model's price in every unit, what was measured, and code that calls it. */
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { ArrowLeft } from 'lucide-react'
import { modelSamples, PLACE_OF_SECRET } from '../../../../src/site/pages/code-samples.ts'
import { sessionQuery } from '../../api/session.ts'
import { Badge } from '../../components/Badge.tsx'
import { buttonClass } from '../../components/button-class.ts'
import { Card } from '../../components/Card.tsx'
import { CopyIcon } from '../../components/CopyIcon.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { Notice } from '../../components/Notice.tsx'
import { PageTitle } from '../../components/PageTitle.tsx'
import { SkeletonRows } from '../../components/SkeletonRows.tsx'
import { SnippetTabs } from '../../components/SnippetTabs.tsx'
import { wholeNumber } from '../../format/number.ts'
import { typedAmount } from '../../format/typed-amount.ts'
import { upstreamHealthQuery } from '../status/health-queries.ts'
import { catalogQuery, isInPlayground, type CatalogModel, type Rate } from './catalog-query.ts'
import { MakerMark, makerWords } from './MakerMark.tsx'
import { modelCallsQuery } from './model-calls-query.ts'
import { FactList, MakerMeasures, OwnMeasures } from './ModelMeasures.tsx'
import { CATEGORY_WORDS, endText, plannedText, priceLines } from './price-words.ts'
import { RateNotice } from './RateNotice.tsx'
import { SpeedMeasures } from './SpeedMeasures.tsx'
import { speedQuery } from './speed-queries.ts'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

export function ModelPage() {
  const { _splat: id = '' } = useParams({ strict: false })
  const { data: session } = useQuery(sessionQuery)
  const found = useQuery(catalogQuery)
  // They stand above the code, which would move when they arrive.
  const health = useQuery(upstreamHealthQuery)
  const speed = useQuery(speedQuery(id))
  const calls = useQuery({ ...modelCallsQuery(id), enabled: Boolean(session) })
  const isPending = found.isPending || health.isLoading || speed.isLoading || calls.isLoading
  // All at once: its description would push down what stands for the rest.
  const model = isPending ? undefined : found.data?.models.find((each) => each.id === id)
  return (
    <>
      <Link
        to="/modelos"
        className="mb-3 inline-flex min-h-11 items-center gap-2 text-sm font-medium text-muted hover:text-ink"
      >
        <ArrowLeft aria-hidden="true" className="size-4" />
        {t('Todos os modelos')}
      </Link>
      <PageTitle
        title={model?.display_name ?? id}
        description={model?.description ?? undefined}
        actions={model && isInPlayground(model) && <TryIt model={model} />}
      />
      {found.isError && <ErrorState error={found.error} onRetry={() => void found.refetch()} />}
      {!found.isError && isPending && (
        <Card>
          <SkeletonRows rows={10} label={t('Carregando o modelo')} />
        </Card>
      )}
      {found.data && !isPending && !model && (
        <EmptyState title={t('Modelo não encontrado')}>
          {t(
            'Não há um modelo com esse nome no catálogo. Ele pode ter saído, ou o endereço está errado.',
          )}
        </EmptyState>
      )}
      {found.data && model && (
        <div className="grid gap-5">
          <Facts model={model} end={endText(model, found.data.models)} />
          <Prices model={model} rate={found.data.rate} />
          <MakerMeasures
            maker={makerWords(model.upstream)}
            health={health.data?.providers.find(({ provider }) => provider === model.upstream)}
            now={health.dataUpdatedAt}
          />
          {(model.category === 'llm' || speed.data?.models[0]) && (
            <SpeedMeasures
              speed={speed.data?.models[0]}
              days={speed.data?.days ?? 30}
              now={speed.dataUpdatedAt}
            />
          )}
          {session && <OwnMeasures calls={calls.data?.calls} />}
          <Code model={model} />
        </div>
      )}
    </>
  )
}

function TryIt({ model: { id } }: { readonly model: CatalogModel }) {
  return (
    <Link to="/playground" search={{ modelo: id }} className={buttonClass('primary')}>
      {t('Experimentar')}
    </Link>
  )
}

interface FactsProps {
  readonly model: CatalogModel
  readonly end: string | undefined
}

function Facts({ model, end }: FactsProps) {
  const { price } = model
  const isChat = model.category === 'llm' && price !== undefined
  const yesNo = (is: boolean): string => (is ? t('sim') : t('não'))
  const facts: readonly (readonly [string, string | false])[] = [
    [t('Fabricante'), makerWords(model.upstream)],
    [t('Tipo'), CATEGORY_WORDS()[model.category]],
    [
      t('Contexto'),
      isChat && t('{contextTokens} tokens', { contextTokens: wholeNumber(price.context_tokens) }),
    ],
    [
      t('Maior saída'),
      isChat &&
        t('{outputTokensMax} tokens', { outputTokensMax: wholeNumber(price.output_tokens_max) }),
    ],
    [t('Usa ferramentas'), isChat && yesNo(price.supports_tools)],
    [t('Lê imagens'), isChat && yesNo(price.supports_images)],
  ]
  return (
    <Card>
      <p className="mb-4 flex flex-wrap items-center gap-2">
        <MakerMark vendor={model.upstream} />
        <code className="text-sm break-all">{model.id}</code>
        <CopyIcon text={model.id} label={t('Copiar {id}', { id: model.id })} />
        {!model.available && <Badge tone="warning">{t('indisponível')}</Badge>}
      </p>
      {end !== undefined && (
        <div className="mb-4">
          <Notice tone="warning">{end}</Notice>
        </div>
      )}
      <FactList facts={facts.filter((fact): fact is [string, string] => fact[1] !== false)} />
    </Card>
  )
}

interface PricesProps {
  readonly model: CatalogModel
  readonly rate: Rate | null
}

function Prices({ model, rate }: PricesProps) {
  const planned = plannedText(model)
  return (
    <Card title={t('Preço de agora')}>
      {planned !== undefined && (
        <div className="mb-4">
          <Notice tone="warning">{planned}</Notice>
        </div>
      )}
      <dl className="divide-y divide-line text-sm">
        {(model.price ? priceLines(model.price) : []).map(([what, price]) => (
          <div key={what} className="flex flex-wrap justify-between gap-x-6 py-2">
            <dt className="text-muted">{what}</dt>
            <dd className="ml-auto text-right font-medium tabular-nums">{price}</dd>
          </div>
        ))}
        <div className="flex flex-wrap justify-between gap-x-6 py-2">
          <dt className="text-muted">{t('Multiplicador, já incluído')}</dt>
          <dd className="ml-auto tabular-nums">{typedAmount(model.markup_multiplier)}</dd>
        </div>
      </dl>
      <div className="mt-4">
        <RateNotice rate={rate} />
      </div>
      <p className="mt-3 text-sm text-muted">
        <Trans
          id="Na {link}, o preço em dólares do fabricante e as mudanças até hoje."
          values={{
            link: (
              // Written by the server: a whole new page.
              <a
                href={`/modelos/${model.id.split('/').map(encodeURIComponent).join('/')}?publica=1`}
                className="underline underline-offset-4"
              >
                {t('página pública do modelo')}
              </a>
            ),
          }}
        />
      </p>
    </Card>
  )
}

function Code({ model }: { readonly model: CatalogModel }) {
  const snippets = modelSamples(model, window.location.origin)
  return (
    <Card
      title={t('Código')}
      description={t('Coloque uma chave sua no lugar de {placeOfSecret}.', {
        placeOfSecret: PLACE_OF_SECRET,
      })}
    >
      <SnippetTabs label={t('Código')} snippets={snippets} />
    </Card>
  )
}
