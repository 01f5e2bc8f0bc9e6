/** The guides in the order of reading. */
import { guidePath, type DocGroup, type DocLink, type Guide } from './doc-page.ts'
import { ERRORS_LINK } from './errors-page.ts'
import { audioGuide } from './guides/audio.ts'
import { billingGuide } from './guides/billing.ts'
import { clientGuides } from './guides/clients.ts'
import { embeddingsGuide } from './guides/embeddings.ts'
import { firstCallGuide } from './guides/first-call.ts'
import { idempotencyGuide } from './guides/idempotency.ts'
import { imagesGuide } from './guides/images.ts'
import { keysAndBudgetsGuide } from './guides/keys-and-budgets.ts'
import { limitsGuide } from './guides/limits.ts'
import { streamingGuide } from './guides/streaming.ts'
import { structuredOutputsGuide } from './guides/structured-outputs.ts'
import { toolsGuide } from './guides/tools.ts'
import { usageDestinationsGuide } from './guides/usage-destinations.ts'
import { webhooksGuide } from './guides/webhooks.ts'

const OF_MODELS: readonly Guide[] = [
  firstCallGuide,
  streamingGuide,
  toolsGuide,
  structuredOutputsGuide,
  imagesGuide,
  audioGuide,
  embeddingsGuide,
]
const OF_OPERATION: readonly Guide[] = [
  limitsGuide,
  keysAndBudgetsGuide,
  billingGuide,
  idempotencyGuide,
  webhooksGuide,
  usageDestinationsGuide,
]

export const GUIDES: readonly Guide[] = [...OF_MODELS, ...OF_OPERATION, ...clientGuides]

export const GUIDE_GROUPS: readonly DocGroup[] = [
  { title: 'Chamar modelos', links: OF_MODELS.map(linkOf) },
  { title: 'Em produção', links: [ERRORS_LINK, ...OF_OPERATION.map(linkOf)] },
  { title: 'Clientes', links: clientGuides.map(linkOf) },
]

function linkOf(guide: Guide): DocLink {
  return { path: guidePath(guide), title: guide.title, description: guide.description }
}
