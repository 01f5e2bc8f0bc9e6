/** The form and the prices of the calculator; `web/site/calculator.ts` computes in the browser. */
import type { Model } from '../../money/catalog/model.ts'
import type { FxRate } from '../../money/fx/fx-rates.ts'
import { dataBlock, html, type Html } from '../../platform/lib/html.ts'

export function invoiceCalculator(
  models: readonly Model[],
  chosen: Model,
  { rateE4 }: FxRate,
): Html {
  return html`<section class="wrap" id="calculadora" aria-labelledby="calculadora-titulo">
    <h2 id="calculadora-titulo">Cole a sua fatura da OpenAI</h2>
    <p class="muted">
      Ou o CSV de uso exportado do painel deles, ou só o total em dólares. O cálculo é feito aqui,
      no seu navegador: o que você cola não é enviado a lugar nenhum.
    </p>
    <noscript
      ><p class="notice">
        A calculadora precisa de JavaScript; o resto da página, não. O cálculo à mão: dólares da
        fatura × PTAX × multiplicador do modelo.
      </p></noscript
    >
    <div class="cols two">
      <div>
        <label for="fatura">Fatura ou uso</label>
        <textarea
          id="fatura"
          spellcheck="false"
          autocomplete="off"
          placeholder="gpt-4o-mini, 1.200.000 tokens de entrada, 300.000 de saída&#10;gpt-4o US$ 38,20&#10;Total: US$ 52.10"
        ></textarea>
        <div class="fields">
          <label
            >Linhas sem modelo são de<select id="modelo-padrao">
              ${models.map((model) => option(model, chosen))}
            </select></label
          >
          <label>IOF do cartão, %<input id="iof" inputmode="decimal" value="3,5" /></label>
          <label>Spread do cartão, %<input id="spread" inputmode="decimal" value="4" /></label>
        </div>
        <div class="acts">
          <button type="button" class="button plain" id="exemplo">Usar um exemplo</button>
        </div>
      </div>
      <div class="card result" id="resultado" role="status">
        <p class="muted">
          O resultado aparece aqui: quanto o mesmo uso custaria na Catraca, por Pix, e quanto custa
          no cartão internacional.
        </p>
      </div>
    </div>
    <p class="small muted">
      O que é comparado: o mesmo uso, pelo preço de tabela do fabricante. Aqui: dólares × PTAX de
      hoje × multiplicador. No cartão: dólares × PTAX de hoje × spread × IOF; os dois percentuais
      são suposições nossas, troque pelos da sua fatura do cartão. Não entram impostos que a OpenAI
      cobre à parte, descontos por lote nem o câmbio do dia em que você pagou.
    </p>
    <div class="card gap" id="por-que">
      <h3>Por que pagar mais do que no cartão?</h3>
      <p>
        Em muitas contas o cartão internacional sai mais barato: a diferença é o multiplicador, o
        que a Catraca cobra pelo serviço. Se você já tem o cartão, um fabricante só e ninguém mais
        usando, talvez não precise dela. O que vem pelo multiplicador:
      </p>
      <ul class="plain">
        <li>Pix, boleto ou cartão em reais, com recibo e extrato em nome do seu CPF ou CNPJ.</li>
        <li>
          Saldo pré-pago: ninguém gasta mais do que você pôs, nem por engano nem por chave vazada.
        </li>
        <li>Orçamento por chave, por equipe e por tarefa, conferido antes de cada chamada.</li>
        <li>Todos os fabricantes em uma API, com outro caminho quando um deles falha.</li>
        <li>O cálculo de cada centavo, que você confere sem acreditar em nós.</li>
      </ul>
    </div>
    ${dataBlock('application/json', { rate: String(rateE4), models: models.map(priceOf) }, 'precos-da-calculadora')}
  </section>`
}

function option({ id, displayName }: Model, chosen: Model): Html {
  return id === chosen.id
    ? html`<option value="${id}" selected>${displayName}</option>`
    : html`<option value="${id}">${displayName}</option>`
}

/** As `CalculatorPrices` in `web/site/calculator-prices.ts`. */
function priceOf({ id, displayName, markupE4, price }: Model) {
  const [tier] = price.tiers
  return {
    id,
    name: displayName,
    markup: String(markupE4),
    input: String(tier?.input ?? 0n),
    cached: String(tier?.cachedInput ?? 0n),
    output: String(tier?.output ?? 0n),
  }
}
