/** `/modelos` for visitors: the whole catalog with its prices. */
import { MODEL_CATEGORIES } from '../../money/catalog/model.ts'
import { html, type Html } from '../../platform/lib/html.ts'
import { layout, type SiteDeps } from './layout.ts'
import { CATEGORY_WORDS } from './model-words.ts'
import { priceTable, rateSentence } from './price-table.ts'
import type { SiteFacts } from './site-facts.ts'

export function modelsPage({ models, fxRate }: SiteFacts, deps: SiteDeps): Html {
  const kinds = MODEL_CATEGORIES.map((category) => ({
    category,
    own: models.filter((model) => model.category === category),
  })).filter(({ own }) => own.length > 0)
  return layout(
    {
      path: '/modelos',
      title: 'Modelos de IA e preços em reais · Catraca',
      description: `Preços em reais de ${models.length} modelos de IA por milhão de tokens, com a PTAX do dia e a margem já incluídas.`,
      main: html`<div class="wrap">
        <h1>Modelos e preços</h1>
        <p class="lead">
          O preço de agora, em reais, com câmbio e margem já incluídos. Tokens: por milhão.
        </p>
        ${
          fxRate &&
          html`<p class="small muted">
            ${rateSentence(fxRate)}. <a href="/cambio">Histórico do câmbio</a>. Para programas:
            <a href="/v1/model-prices"><code>/v1/model-prices</code></a
            >.
          </p>`
        }
        ${!fxRate && html`<p class="notice">Ainda não há taxa de câmbio, e sem ela não há preço em reais.</p>`}
        ${
          fxRate &&
          kinds.map(
            ({ category, own }) =>
              html`<h2 id="${category}" class="gap">${CATEGORY_WORDS[category]}</h2>
                ${priceTable(own, fxRate, `Preços em reais: ${CATEGORY_WORDS[category]}`)}`,
          )
        }
      </div>`,
    },
    deps,
  )
}
