/** The pages of public bills. Both read the database at every visit, so they are counted like requests of strangers. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { html, type Html } from '../../lib/html.ts'
import { listDayHeads } from '../../public-bills/read-charge-chain.ts'
import { readPublicBill } from '../../public-bills/read-public-bill.ts'
import { hiddenRoute, type Route } from '../rest/route.ts'
import { layout } from '../site/layout.ts'
import { OF_EVERYBODY, pagePolicy, sendPage } from '../site/send-page.ts'
import type { SiteDeps } from '../site/site-deps.ts'
import { writePage } from '../site/site-pages.ts'
import { billPage } from './bill-page.ts'
import type { PublicBillDeps } from './public-bill-deps.ts'
import { shownBillBody } from './shown-bill.ts'
import { verifyPage } from './verify-page.ts'

type Deps = SiteDeps & PublicBillDeps

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
      return bill
        ? send(request, reply, {
            text: billPage(shownBillBody(bill), deps),
            cacheControl: OF_NOBODY,
          })
        : send(request, reply, {
            status: 404,
            text: missingPage(deps),
            cacheControl: OF_NOBODY,
          })
    },
  }),
  hiddenRoute<Deps>({
    method: 'GET',
    url: '/verificar',
    access: 'public',
    async handle(request, reply, deps) {
      const heads = await listDayHeads(deps.db, { limit: HEADS_SHOWN })
      return send(request, reply, { text: verifyPage(heads, deps), cacheControl: OF_EVERYBODY })
    },
  }),
]

async function send(
  request: FastifyRequest,
  reply: FastifyReply,
  page: { status?: number; text: Html; cacheControl: string },
): Promise<FastifyReply> {
  const { status = 200, text, cacheControl } = page
  const written = await writePage({ status, type: 'text/html; charset=utf-8', text })
  return sendPage(request, reply, written, { cacheControl, policy: POLICY })
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
