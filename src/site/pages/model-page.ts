/** `/modelos/<id>`: one model, its price and how it came to it, what was measured, and code that calls it. */
import { operationOf, type Model } from '../../money/catalog/model.ts'
import type { PriceTier } from '../../money/catalog/prices.ts'
import type { FxRate } from '../../money/fx/fx-rates.ts'
import { brlText } from '../../platform/lib/brl-text.ts'
import { isPast } from '../../platform/lib/days.ts'
import { t } from '../../platform/lib/language.ts'
import { html, type Html } from '../../platform/lib/html.ts'
import { chargeFor } from '../../platform/lib/money.ts'
import {
  brlPerMillion,
  dayText,
  longDayText,
  multiplierText,
  point,
  roundedBrl,
  shortCount,
  usdPerMillion,
  usdText,
  wholeCount,
} from './amounts.ts'
import { layout, type SiteDeps } from './layout.ts'
import {
  CATEGORY_WORDS,
  codeText,
  isPaidByTokens,
  makerOf,
  modelPath,
  ofMaker,
  unitPrices,
} from './model-words.ts'
import { modelSamples } from './code-samples.ts'
import { priceHistory, type PriceEvent, rateSentence } from './price-table.ts'
import { HEALTH_DAYS, type SiteFacts } from './site-facts.ts'

const SIBLINGS_MAX = 8

export function modelPage(model: Model, facts: SiteFacts, origin: string, deps: SiteDeps): Html {
  const { fxRate, reading } = facts
  const configured = deps.catalog.listConfigured().find(({ id }) => id === model.id) ?? model
  const history = priceHistory(configured, reading.markups, reading.prices)
  const planned = history.filter(({ at }) => at.getTime() > Date.now()).toReversed()
  return layout(
    {
      path: modelPath(model),
      title: t`${model.displayName}: preço em reais e API · Catraca`,
      description: describe(model, fxRate),
      isIndexed: model.routes.length > 0,
      linkedData: breadcrumbs(model, deps.config.publicUrl),
      main: html`<div class="wrap">
        <nav class="crumbs" aria-label="Onde você está">
          <a href="/modelos">Modelos</a> / ${model.displayName}
        </nav>
        <h1>${model.displayName}</h1>
        ${model.description !== null && html`<p class="lead">${t(model.description)}</p>`}
        <p>
          <code>${model.id}</code>
          ${model.routes.length === 0 && html`<span class="tag warn">indisponível no momento</span>`}
        </p>
        ${endNotice(model, deps)} ${planned.length > 0 && plannedNotice(planned)} ${traits(model)}
        ${
          fxRate
            ? prices(model, fxRate)
            : html`<h2 class="gap">Preço</h2>
                <p>Ainda não há taxa de câmbio, e sem ela não há preço em reais.</p>`
        }
        ${measured(model, facts)} ${samples(model, origin)} ${past(history)}
        ${siblings(model, facts)}
      </div>`,
    },
    deps,
  )
}

function describe(model: Model, fxRate: FxRate | undefined): string {
  const [tier] = model.price.tiers
  const price =
    fxRate && tier && isPaidByTokens(model)
      ? t` por ${roundedBrl(brlPerMillion(tier.input, model, fxRate))} o milhão de tokens de entrada e ${roundedBrl(brlPerMillion(tier.output, model, fxRate))} o de saída`
      : t(' em reais')
  return t`${model.displayName}, ${ofMaker(model)}${price}. Pago por Pix com saldo pré-pago, com código para cada cliente.`
}

function endNotice(model: Model, { catalog }: SiteDeps): Html | false {
  const { endsOn } = model
  if (endsOn === undefined) return false
  const day = longDayText(endsOn)
  const other = catalog.findReplacement(model)
  return html`<p class="card">
    <strong
      >${isPast(endsOn) ? t`O fabricante encerrou este modelo em ${day}.` : t`Sai do ar em ${day}.`}</strong
    >
    ${other && html`Substituto: <a href="${modelPath(other)}">${other.displayName}</a>.`}
  </p>`
}

function plannedNotice(planned: readonly PriceEvent[]): Html {
  return html`<div class="card">
    <h2 class="h3">Mudança de preço marcada</h2>
    ${planned.map(
      ({ at, text }) => html`<p>A partir de <strong>${dayText(at)}</strong>: ${text}.</p>`,
    )}
  </div>`
}

function traits(model: Model): Html {
  const isChat = model.category === 'llm'
  const facts: readonly (readonly [string, string | false])[] = [
    [t('Tipo'), t(CATEGORY_WORDS[model.category])],
    [t('Fabricante'), makerOf(model)],
    [t('Contexto'), isChat && `${wholeCount(model.contextTokens)} tokens`],
    [t('Saída máxima'), isChat && `${wholeCount(model.outputTokensMax)} tokens`],
    [t('Ferramentas'), isChat && yesNo(model.supportsTools)],
    [t('Imagens no prompt'), isChat && yesNo(model.imageTokensMax > 0)],
    [t('Dimensões'), model.embedding !== undefined && wholeCount(model.embedding.dimensions)],
    [t('Tamanhos'), (model.image?.sizes ?? []).join(', ') || false],
    [t('Áudio mais longo'), model.audio !== undefined && minutes(model.audio.secondsMax)],
  ]
  return html`<dl class="facts">
    ${facts.map(
      ([name, value]) =>
        value !== false &&
        html`<div>
          <dt>${name}</dt>
          <dd>${value}</dd>
        </div>`,
    )}
  </dl>`
}

function prices(model: Model, fxRate: FxRate): Html {
  const conversion = { fxRateE4: fxRate.rateE4, markupE4: model.markupE4 }
  return html`<section aria-labelledby="preco">
    <h2 id="preco" class="gap">Preço de agora</h2>
    <p class="muted">
      ${rateSentence(fxRate)} (<a href="/cambio">histórico</a>), multiplicador de
      ${multiplierText(model.markupE4)}. Em reais = dólares × PTAX × multiplicador.
    </p>
    <div class="scroll" role="region" aria-label="Tabela de preços" tabindex="0">
      <table>
        <thead>
          <tr>
            <th scope="col">Unidade</th>
            <th scope="col" class="num">Fabricante</th>
            <th scope="col" class="num">Em reais</th>
          </tr>
        </thead>
        <tbody>
          ${isPaidByTokens(model) && model.price.tiers.map((tier) => tierRows(tier, model, fxRate))}${unitPrices(
            model,
          ).map(
            ({ what, count, each }) =>
              html`<tr>
                <th scope="row">${sentence(what)}</th>
                <td class="num">${usdText(each * count)}</td>
                <td class="num">${brlText(chargeFor(each * count, conversion))}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
    ${
      model.priceSchedule !== undefined &&
      html`<p class="small muted">
        O fabricante cobra este modelo por horário ou por data; a tabela é a de agora.
      </p>`
    }
  </section>`
}

function tierRows(tier: PriceTier, model: Model, fxRate: FxRate): Html {
  const above =
    tier.abovePromptTokens === 0
      ? ''
      : t`, em chamadas com mais de ${wholeCount(tier.abovePromptTokens)} tokens de entrada`
  const kinds: readonly (readonly [string, bigint, boolean])[] = [
    [t('Milhão de tokens de entrada'), tier.input, true],
    [
      t('Milhão de tokens de entrada lidos do cache'),
      tier.cachedInput,
      tier.cachedInput !== tier.input,
    ],
    [t('Milhão de tokens gravados no cache'), tier.cacheWrite, tier.cacheWrite !== tier.input],
    [t('Milhão de tokens de saída'), tier.output, tier.output > 0n],
    [t('Milhão de tokens de raciocínio'), tier.reasoning, tier.reasoning !== tier.output],
  ]
  return html`${kinds.map(
    ([name, each, isShown]) =>
      isShown &&
      html`<tr>
        <th scope="row">${name}${above}</th>
        <td class="num">${usdPerMillion(each)}</td>
        <td class="num">${brlText(brlPerMillion(each, model, fxRate))}</td>
      </tr>`,
  )}`
}

function measured(model: Model, facts: SiteFacts): Html | false {
  const found = [speedOf(model, facts), healthOf(model, facts)].filter((each) => each !== false)
  if (found.length === 0) return false
  return html`<section aria-labelledby="medido">
    <h2 id="medido" class="gap">Medido nos últimos ${HEALTH_DAYS} dias</h2>
    ${found}
  </section>`
}

function speedOf({ id }: Model, { reading }: SiteFacts): Html | false {
  const speed = reading.speeds.find(({ modelId }) => modelId === id)
  if (!speed) return false
  const { firstByteMs, tokensPerSecond } = speed
  return html`<p class="muted">Nas respostas deste modelo em stream, mediana.</p>
    <dl class="facts">
      <div>
        <dt>Primeiro byte</dt>
        <dd>${milliseconds(firstByteMs)}</dd>
      </div>
      <div>
        <dt>Tokens por segundo</dt>
        <dd>${tokensPerSecond === null ? t('sem medida') : decimal(tokensPerSecond)}</dd>
      </div>
    </dl>`
}

/** Health is measured by maker: the upstreams behind a model are never named. */
function healthOf(model: Model, { reading }: SiteFacts): Html | false {
  const health = reading.health.find(({ vendor }) => vendor === model.vendor)
  if (!health) return false
  const { requests, uptimePercent, p50Ms, p95Ms } = health
  return html`<p class="muted">
      Em ${requests === 1 ? t('1 chamada') : t`${wholeCount(requests)} chamadas`} a modelos
      ${ofMaker(model)}, inclusive as que falharam. Ao vivo: <a href="/status">status</a>.
    </p>
    <dl class="facts">
      <div>
        <dt>Chamadas com resposta</dt>
        <dd>${decimal(uptimePercent)}%</dd>
      </div>
      <div>
        <dt>Primeiro byte, mediana</dt>
        <dd>${milliseconds(p50Ms)}</dd>
      </div>
      <div>
        <dt>Primeiro byte, p95</dt>
        <dd>${milliseconds(p95Ms)}</dd>
      </div>
    </dl>`
}

function samples(model: Model, origin: string): Html {
  const size = model.image?.sizes[0]
  const found = modelSamples({ id: model.id, operation: operationOf(model), size }, origin)
  return html`<section aria-labelledby="codigo">
    <h2 id="codigo" class="gap">Código</h2>
    <p class="muted">
      Coloque uma chave sua no lugar de <code>SUA_CHAVE</code>:
      <a href="/cadastrar">crie uma conta</a> ou <a href="/entrar">entre</a>.
    </p>
    ${found.map(
      ({ client, code }, index) =>
        html`${index === 0 ? html`<details open></details>` : html`<details></details>`}<summary>${client}</summary><pre class="code" tabindex="0" role="region" aria-label="Código: ${client}">${codeText(code)}</pre></details>`,
    )}
  </section>`
}

function past(history: readonly PriceEvent[]): Html {
  return html`<section aria-labelledby="historico">
    <h2 id="historico" class="gap">Histórico do preço</h2>
    ${
      history.length === 0
        ? html`<p class="muted">
            Nenhuma mudança de preço ou de multiplicador até hoje. O câmbio de cada dia está em
            <a href="/cambio">câmbio aplicado</a>.
          </p>`
        : html`<div class="scroll" role="region" aria-label="Tabela de mudanças" tabindex="0">
              <table>
                <thead>
                  <tr>
                    <th scope="col">A partir de</th>
                    <th scope="col">Mudança</th>
                  </tr>
                </thead>
                <tbody>
                  ${history.map(
                    ({ at, text }) =>
                      html`<tr>
                        <th scope="row">${dayText(at)}</th>
                        <td>${text}</td>
                      </tr>`,
                  )}
                </tbody>
              </table>
            </div>
            <p class="small muted">
              O câmbio de cada dia está em <a href="/cambio">câmbio aplicado</a>.
            </p>`
    }
  </section>`
}

function siblings(model: Model, { models }: SiteFacts): Html | false {
  const others = models
    .filter(({ vendor, id }) => vendor === model.vendor && id !== model.id)
    .slice(0, SIBLINGS_MAX)
  if (others.length === 0) return false
  return html`<section aria-labelledby="outros">
    <h2 id="outros" class="gap">Outros modelos ${ofMaker(model)}</h2>
    <ul class="tags">
      ${others.map(
        (other) =>
          html`<li>
            <a class="tag" href="${modelPath(other)}"
              >${other.displayName}${other.category === 'llm' && html` · ${shortCount(other.contextTokens)}`}</a
            >
          </li>`,
      )}
    </ul>
  </section>`
}

function breadcrumbs(model: Model, publicUrl = ''): object {
  const items = [
    { name: t('Modelos'), item: `${publicUrl}/modelos` },
    { name: model.displayName, item: `${publicUrl}${modelPath(model)}` },
  ]
  return {
    '@context': 'https://schema.org',
    '@type': 'BreadcrumbList',
    itemListElement: items.map((item, index) => ({
      '@type': 'ListItem',
      position: index + 1,
      ...item,
    })),
  }
}

function yesNo(is: boolean): string {
  return is ? t('sim') : t('não')
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function minutes(seconds: number): string {
  return seconds >= 120
    ? t`${wholeCount(Math.floor(seconds / 60))} minutos`
    : t`${seconds} segundos`
}

function decimal(value: number): string {
  return String(value).replace('.', point())
}

function milliseconds(ms: number | null): string {
  return ms === null ? t('sem medida') : `${wholeCount(Math.round(ms))} ms`
}
