/** The pages of public bills. Both read the database at every visit, so they are counted like requests of strangers. */
import { hash } from 'node:crypto'
import { html, type Html } from '../../platform/lib/html.ts'
import { listDayHeads, type DayHead } from '../../money/public-bills/read-charge-chain.ts'
import { readPublicBill } from '../../money/public-bills/read-public-bill.ts'
import { hiddenRoute, type Route } from '../../http/rest/route.ts'
import { layout, type SiteDeps } from '../pages/layout.ts'
import {
  OF_EVERYBODY,
  pagePolicy,
  sendPageOfVisit,
  sendWritten,
  visitInLanguage,
} from '../pages/send-page.ts'
import { formatDay } from '../../deliveries/email/formats.ts'
import { inLanguage, t } from '../../platform/lib/language.ts'
import { billPage } from './bill-page.ts'
import type { HttpParts } from '../../http/rest/parts.ts'
import { shownBillBody } from './shown-bill-routes.ts'

/** `/verificar`: the published heads of the chain, and how to check a bill with them. */
function verifyPage(heads: readonly DayHead[], deps: SiteDeps): Html {
  return layout(
    {
      path: '/verificar',
      title: t('Conferir uma cobrança · Catraca'),
      description: t(
        'O livro público de cobranças: um selo por dia, que cobre todas as cobranças até ali. Ninguém muda uma cobrança antiga sem que apareça.',
      ),
      script: deps.webApp.findScript('bill'),
      main: html`<div class="wrap">
        <h1>Conferir uma cobrança</h1>
        <p class="lead">
          Toda cobrança entra em um livro público. A cada dia publicamos um selo que cobre todas as
          cobranças até ali: se alguém mudar uma delas depois, nós inclusive, nenhum selo dali em
          diante bate mais.
        </p>
        <label for="endereco">Cole o endereço de uma cobrança pública</label>
        <div class="fields">
          <input
            id="endereco"
            type="url"
            inputmode="url"
            autocomplete="off"
            placeholder="https://…/conta/…"
          />
          <button class="button" id="verificar" type="button">Conferir</button>
        </div>
        <p id="aviso" role="status" class="small"></p>
        <h2 class="gap">Como funciona</h2>
        <ol>
          <li>
            O texto de cada cobrança (modelo, tokens, custo em dólares, câmbio, multiplicador e
            valor em reais) vira um hash SHA-256. Nomes, chaves e conversas não entram.
          </li>
          <li>
            Os hashes de um período formam uma árvore, como a dos certificados da web (RFC 9162). A
            raiz de cada árvore entra em uma corrente, e o último elo do dia é o selo do dia.
          </li>
          <li>
            A cobrança pública traz o caminho até o selo. Seu navegador refaz cada passo e compara o
            resultado com o selo publicado.
          </li>
        </ol>
        <p>
          Guarde uma cópia desta lista de vez em quando. É ela que impede que a corrente inteira
          seja refeita. Em JSON, ela está em
          <a href="/v1/charge-chain"><code>/v1/charge-chain</code></a
          >, e a cobrança em <code>/v1/public-bills/&lt;fim do endereço&gt;</code>.
        </p>
        <h2 class="gap">Selos publicados</h2>
        ${
          heads.length === 0
            ? html`<p class="muted">
                O primeiro selo sai quando o primeiro dia com cobranças termina.
              </p>`
            : headTable(heads)
        }
      </div>`,
    },
    deps,
  )
}

function headTable(heads: readonly DayHead[]): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Selos publicados">
    <table>
      <thead>
        <tr>
          <th scope="col">Dia (UTC)</th>
          <th scope="col">Selo</th>
        </tr>
      </thead>
      <tbody>
        ${heads.map(
          ({ day, head }) =>
            html`<tr>
              <th scope="row">${formatDay(day) ?? day}</th>
              <td><code>${head}</code></td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`
}

type Deps = SiteDeps & Pick<HttpParts, 'db'>

/** The script of a bill asks this server for the published heads. */
const POLICY = pagePolicy([], "'self'")
const HEADS_SHOWN = 90
/** A bill that its customer deletes is gone at once. */
const OF_NOBODY = 'private, no-store'

export const billPageRoutes: readonly Route<Deps>[] = [
  hiddenRoute<Deps>({
    method: 'GET',
    url: '/conta/:token',
    access: 'public',
    async handle(request, reply, given) {
      const visit = visitInLanguage(request, reply, given)
      const { deps } = visit
      const { token } = request.params as { token: string }
      const bill = await readPublicBill(deps.db, token)
      if (!bill)
        return sendWritten(visit, '/conta 404', {
          status: 404,
          cacheControl: OF_NOBODY,
          policy: POLICY,
          write: () => missingPage(deps),
        })
      const page = {
        status: 200,
        type: 'text/html; charset=utf-8',
        text: inLanguage(deps.language ?? 'pt-BR', () => billPage(shownBillBody(bill), deps)),
      }
      return sendPageOfVisit(request, reply, page, { cacheControl: OF_NOBODY, policy: POLICY })
    },
  }),
  hiddenRoute<Deps>({
    method: 'GET',
    url: '/verificar',
    access: 'public',
    async handle(request, reply, given) {
      const visit = visitInLanguage(request, reply, given)
      const { deps } = visit
      const heads = await listDayHeads(deps.db, { limit: HEADS_SHOWN })
      return sendWritten(visit, `/verificar ${digestOf(heads)}`, {
        cacheControl: OF_EVERYBODY,
        policy: POLICY,
        write: () => verifyPage(heads, deps),
      })
    },
  }),
]

/** The page is written again when any of its heads changes. */
function digestOf(heads: readonly DayHead[]): string {
  const text = heads.map(({ day, head }) => `${day} ${head}`).join('\n')
  return hash('sha256', text, 'base64url')
}

function missingPage(deps: SiteDeps): Html {
  return layout(
    {
      path: '/verificar',
      title: t('Cobrança não encontrada · Catraca'),
      description: t('Esta cobrança não existe, ou quem a mostrou fechou o endereço.'),
      isIndexed: false,
      main: html`<div class="wrap">
        <h1>Cobrança não encontrada</h1>
        <p class="lead">
          Esta cobrança não existe, ou quem a mostrou fechou o endereço. Confira se ele veio
          inteiro.
        </p>
        <div class="acts"><a class="button" href="/verificar">Conferir outra cobrança</a></div>
      </div>`,
    },
    deps,
  )
}
