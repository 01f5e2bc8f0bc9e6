/** `/` for visitors: what the service is, its prices in reais, and what an invoice would have cost here. */
import type { Model } from '../../money/catalog/model.ts'
import type { FxRate } from '../../money/fx/fx-rates.ts'
import { chargeFor, decimalBrl } from '../../platform/lib/money.ts'
import { brlText } from '../../platform/lib/brl-text.ts'
import { t } from '../../platform/lib/language.ts'
import { html, type Html } from '../../platform/lib/html.ts'
import { multiplierText, rateText, usdText, wholeCount } from './amounts.ts'
import { chatSamples, PLACE_OF_SECRET } from './code-samples.ts'
import { invoiceCalculator } from './invoice-calculator.ts'
import { layout, type SiteDeps } from './layout.ts'
import { codeText, isPaidByTokens, makersOf, modelPath } from './model-words.ts'
import { priceTable, rateSentence } from './price-table.ts'
import type { SiteFacts } from './site-facts.ts'

const ROWS_MAX = 12
/** Of each maker, so that the table shows several. */
const ROWS_OF_MAKER_MAX = 4
const EXAMPLE = { prompt: 1_000n, completion: 500n }

export function landingPage({ models, fxRate }: SiteFacts, origin: string, deps: SiteDeps): Html {
  const offered = models.filter(({ routes }) => routes.length > 0).length
  const chats = models.filter((model) => isOffered(model))
  const real = chats.filter(({ vendor }) => vendor !== 'sandbox')
  const shown = real.length > 0 ? real : chats
  const [first] = preferred(shown)
  const makers = makersOf(shown)
  const lead = t`${makers.slice(0, 4).join(', ') || t('Modelos de IA')}${makers.length > 4 ? t(' e outros') : ''}, com a biblioteca que você já usa. O saldo é pré-pago, o câmbio é a PTAX do Banco Central, e cada chamada mostra como se chegou ao valor.`
  return layout(
    {
      path: '/',
      title: t('Catraca: modelos de IA em reais, pagos por Pix'),
      description: t`Uma API só para ${offered} modelos de IA. Saldo pré-pago em reais por Pix, câmbio PTAX e o cálculo de cada chamada. Sem cartão internacional e sem mensalidade.`,
      script: fxRate && first && deps.webApp.findScript('calculator'),
      linkedData: {
        '@context': 'https://schema.org',
        '@type': 'Organization',
        name: 'Catraca',
        legalName: deps.sender.company.name,
        email: deps.sender.company.contactEmail,
        ...(deps.config.publicUrl === undefined ? {} : { url: `${deps.config.publicUrl}/` }),
      },
      main: html`<section class="wrap hero">
          <div>
            <h1>Modelos de IA pagos em reais, por Pix</h1>
            <p class="lead">${lead}</p>
            ${
              deps.config.trialCreditBrl > 0 &&
              html`<p>
                <span class="tag"
                  >R$ ${deps.config.trialCreditBrl} de crédito para experimentar, sem pagar
                  nada</span
                >
              </p>`
            }
            <div class="acts">
              <a class="button" href="/cadastrar">Criar conta</a
              ><a class="button plain" href="#precos">Ver preços em reais</a>
            </div>
            <p class="small muted">
              Sem mensalidade e sem cartão internacional. Recarga a partir de R$
              ${deps.config.topUpMinBrl}; o saldo não expira.
            </p>
          </div>
          ${first && firstCall(first, fxRate, origin)}
        </section>
        ${fxRate && first ? prices(offered, preferred(shown), fxRate) : noPrices()}
        ${fxRate && first && invoiceCalculator(shown, first, fxRate)}
        ${fxRate && first && explainedCharge(first, fxRate)} ${termsOf(deps)} ${clients()}`,
    },
    deps,
  )
}

function isOffered(model: Model): boolean {
  return model.category === 'llm' && model.routes.length > 0 && isPaidByTokens(model)
}

/** In the order of the catalog, a few of each maker. */
function preferred(models: readonly Model[]): readonly Model[] {
  const counts = new Map<string, number>()
  const few = models.filter(({ vendor }) => {
    const count = (counts.get(vendor) ?? 0) + 1
    counts.set(vendor, count)
    return count <= ROWS_OF_MAKER_MAX
  })
  return few.slice(0, ROWS_MAX)
}

function firstCall(model: Model, fxRate: FxRate | undefined, origin: string): Html {
  const [curl] = chatSamples({ origin, secret: PLACE_OF_SECRET, model: model.id })
  return html`<div>
    <figure>
      <figcaption>A primeira chamada</figcaption>
      <pre class="code" tabindex="0" role="region" aria-label="A primeira chamada">
${curl && codeText(curl.code)}</pre>
    </figure>
    ${
      fxRate &&
      html`<figure>
        <figcaption>
          Na resposta, o custo em reais (exemplo com 9 tokens de entrada e 12 de saída)
        </figcaption>
        <pre class="code" tabindex="0" role="region" aria-label="A resposta">{
  "model": "${model.id}",
  "choices": [{ "message": { "content": "${t('Olá! Como posso ajudar?')}" } }],
  "usage": { "prompt_tokens": 9, "completion_tokens": 12 },
  <b>"cost_billed_brl": ${decimalBrl(chargeOf(model, { prompt: 9n, completion: 12n }, fxRate))}</b>
}</pre>
      </figure>`
    }
  </div>`
}

function costOf(model: Model, { prompt, completion }: typeof EXAMPLE): bigint {
  const [tier] = model.price.tiers
  return tier ? prompt * tier.input + completion * tier.output : 0n
}

function chargeOf(model: Model, tokens: typeof EXAMPLE, { rateE4 }: FxRate): bigint {
  return chargeFor(costOf(model, tokens), { fxRateE4: rateE4, markupE4: model.markupE4 })
}

function prices(count: number, models: readonly Model[], fxRate: FxRate): Html {
  return html`<section class="band" id="precos" aria-labelledby="precos-titulo">
    <div class="wrap">
      <h2 id="precos-titulo">Preços de agora, em reais</h2>
      <p class="muted">
        Por milhão de tokens, com câmbio e multiplicador já incluídos. ${rateSentence(fxRate)} (<a
          href="/cambio"
          >histórico</a
        >).
      </p>
      ${priceTable(models, fxRate, t('Preços em reais por milhão de tokens'))}
      <p>
        <a href="/modelos">Ver os ${count} modelos</a>: chat, embeddings, imagens e transcrição.
        Para programas: <a href="/v1/model-prices"><code>/v1/model-prices</code></a
        >, sem chave.
      </p>
    </div>
  </section>`
}

const noPrices = () =>
  html`<section class="band" id="precos">
    <div class="wrap">
      <h2>Preços em reais</h2>
      <p>
        Os preços aparecem aqui assim que houver uma taxa de câmbio. Volte em alguns minutos, ou
        veja o <a href="/status">status</a>.
      </p>
    </div>
  </section>`

function explainedCharge(model: Model, fxRate: FxRate): Html {
  const [tier] = model.price.tiers
  const cost = costOf(model, EXAMPLE)
  return html`<section class="band" aria-labelledby="conta-titulo">
    <div class="wrap">
      <h2 id="conta-titulo">Como se chega ao valor cobrado</h2>
      <div class="cols two">
        <div>
          <p>
            Cada cobrança é uma multiplicação que você pode refazer: o custo do fabricante em
            dólares, vezes a PTAX em vigor no início da chamada, vezes o multiplicador do modelo.
            Ela guarda os três números, e o painel refaz o cálculo no seu navegador.
          </p>
          <p>
            Antes da chamada reservamos o máximo que ela pode custar; depois cobramos só o que foi
            usado e liberamos o resto. Sem saldo, a chamada é recusada antes de sair. Uma chamada
            que falha antes da resposta não custa nada.
          </p>
          <p>
            Um aumento do multiplicador é avisado com antecedência e aparece na
            <a href="${modelPath(model)}">página do modelo</a>.
          </p>
        </div>
        <div class="card">
          <h3>
            ${model.displayName}, ${wholeCount(Number(EXAMPLE.prompt))} tokens de entrada e
            ${wholeCount(Number(EXAMPLE.completion))} de saída
          </h3>
          <dl class="sum">
            <dt>Entrada, US$ por token × ${wholeCount(Number(EXAMPLE.prompt))}</dt>
            <dd>${usdText((tier?.input ?? 0n) * EXAMPLE.prompt)}</dd>
            <dt>Saída, US$ por token × ${wholeCount(Number(EXAMPLE.completion))}</dt>
            <dd>${usdText((tier?.output ?? 0n) * EXAMPLE.completion)}</dd>
            <dt>Custo do fabricante</dt>
            <dd>${usdText(cost)}</dd>
            <dt>× PTAX</dt>
            <dd>${rateText(fxRate.rateE4)}</dd>
            <dt>× multiplicador</dt>
            <dd>${multiplierText(model.markupE4)}</dd>
            <dt class="total">Cobrado do saldo</dt>
            <dd class="total">${brlText(chargeOf(model, EXAMPLE, fxRate))}</dd>
          </dl>
        </div>
      </div>
    </div>
  </section>`
}

const termsOf = ({ config }: SiteDeps) =>
  html`<section class="wrap" aria-labelledby="saldo-titulo">
    <h2 id="saldo-titulo">O seu dinheiro</h2>
    <div class="cols three">
      <div class="card">
        <h3>Pix, boleto ou cartão</h3>
        <p class="muted">
          De R$ ${config.topUpMinBrl} a R$ 5.000 por recarga. Por Pix o saldo entra assim que o
          pagamento é confirmado. O cartão é cobrado em reais, sem IOF de compra no exterior.
        </p>
      </div>
      <div class="card">
        <h3>Reembolso pelo painel</h3>
        <p class="muted">
          Até 7 dias depois da recarga, o que não foi gasto volta inteiro. Depois disso, o saldo
          pago e não gasto ainda pode ser devolvido a pedido.
        </p>
      </div>
      <div class="card">
        <h3>Limites que valem</h3>
        <p class="muted">
          Orçamento por chave, teto por minuto, por dia e por tarefa, e limite mensal por equipe.
          São conferidos antes de a chamada sair, também com muitas ao mesmo tempo.
        </p>
      </div>
      <div class="card">
        <h3>Dados e LGPD</h3>
        <p class="muted">
          Conversas não ficam guardadas depois da resposta, salvo se você pedir. CPF, CNPJ,
          telefones e e-mails podem ser mascarados antes de sair para o provedor.
        </p>
      </div>
      <div class="card">
        <h3>Quando um provedor cai</h3>
        <p class="muted">
          A chamada segue por outro caminho do mesmo modelo, se houver, e você pode listar modelos
          reservas. Disponibilidade e latência medidas estão no <a href="/status">status</a>.
        </p>
      </div>
      <div class="card">
        <h3>Tudo exportável</h3>
        <p class="muted">
          Cada cobrança em CSV ou JSON, com preço, câmbio e multiplicador. Recibo de cada recarga.
          Avisos por e-mail ou webhook antes de o saldo acabar.
        </p>
      </div>
    </div>
  </section>`

const clients = () =>
  html`<section class="band" aria-labelledby="clientes-titulo">
    <div class="wrap">
      <h2 id="clientes-titulo">Troque o endereço, fique com o código</h2>
      <p class="muted">
        A API fala os formatos chat completions, Responses, Messages e Gemini, e qualquer modelo do
        catálogo responde em todos eles.
      </p>
      <ul class="tags">
        <li class="tag">SDK da OpenAI</li>
        <li class="tag">SDK da Anthropic</li>
        <li class="tag">SDK da Google</li>
        <li class="tag">AI SDK</li>
        <li class="tag">LangChain</li>
        <li class="tag">Claude Code</li>
        <li class="tag">Codex</li>
        <li class="tag">opencode</li>
        <li class="tag">Cursor</li>
      </ul>
      <div class="acts">
        <a class="button" href="/cadastrar">Criar conta</a
        ><a class="button plain" href="/docs">Ler a documentação</a>
      </div>
    </div>
  </section>`
