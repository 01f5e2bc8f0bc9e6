import type { FastifyReply } from 'fastify'
import type { Catalog } from '../../money/catalog/catalog.ts'
import type { Company } from '../../customers/legal/company.ts'
import type { SiteFacts } from './site-facts.ts'
import type { SitePages } from './site-pages.ts'

export interface SiteDeps {
  readonly siteFacts: () => Promise<SiteFacts>
  readonly sitePages: SitePages
  readonly catalog: Pick<Catalog, 'listConfigured' | 'findModel' | 'findNamed'>
  readonly sender: { readonly company: Company }
  readonly mode: 'sandbox' | 'live'
  readonly publicUrl: string | undefined
  readonly terms: { readonly topUpMinBrl: number }
  readonly webApp: {
    /** Sends the dashboard. */
    sendFirstPage(reply: FastifyReply): FastifyReply
    /** The path of a built script by its name in `web/vite.config.ts`; undefined before a build. */
    findScript(name: string): string | undefined
  }
}
