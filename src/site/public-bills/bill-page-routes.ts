/** The pages of public bills. Both read the database at every visit, so they are counted like requests of strangers. */
import { hash } from 'node:crypto'
import { html, type Html } from '../../platform/lib/html.ts'
import { listDayHeads, type DayHead } from '../../money/public-bills/read-charge-chain.ts'
import { readPublicBill } from '../../money/public-bills/read-public-bill.ts'
import { hiddenRoute, type Route } from '../../http/rest/route.ts'
import { layout, type SiteDeps } from '../pages/layout.ts'
import { OF_EVERYBODY, pagePolicy, sendPageOfVisit } from '../pages/send-page.ts'
import { sendWritten } from '../pages/send-written.ts'
import { billPage } from './bill-page.ts'
import type { HttpParts } from '../../http/rest/parts.ts'
import { shownBillBody } from './shown-bill.ts'
import { verifyPage } from './verify-page.ts'

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
    async handle(request, reply, deps) {
      const { token } = request.params as { token: string }
      const bill = await readPublicBill(deps.db, token)
      if (!bill)
        return sendWritten({ request, reply, deps }, '/conta 404', {
          status: 404,
          cacheControl: OF_NOBODY,
          policy: POLICY,
          write: () => missingPage(deps),
        })
      const page = {
        status: 200,
        type: 'text/html; charset=utf-8',
        text: billPage(shownBillBody(bill), deps),
      }
      return sendPageOfVisit(request, reply, page, { cacheControl: OF_NOBODY, policy: POLICY })
    },
  }),
  hiddenRoute<Deps>({
    method: 'GET',
    url: '/verificar',
    access: 'public',
    async handle(request, reply, deps) {
      const heads = await listDayHeads(deps.db, { limit: HEADS_SHOWN })
      return sendWritten({ request, reply, deps }, `/verificar ${digestOf(heads)}`, {
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
      title: 'Conta não encontrada · Catraca',
      description: 'Esta conta não existe, ou quem a mostrou fechou o endereço.',
      isIndexed: false,
      main: html`<div class="wrap">
        <h1>Conta não encontrada</h1>
        <p class="lead">
          Esta conta não existe, ou quem a mostrou fechou o endereço. Confira se ele veio inteiro.
        </p>
        <div class="acts"><a class="button" href="/verificar">Verificar outra conta</a></div>
      </div>`,
    },
    deps,
  )
}
