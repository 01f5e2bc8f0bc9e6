import { SquareTerminal } from 'lucide-react'
import { useState } from 'react'
import { PLACE_OF_SECRET } from '../../../../src/site/pages/code-samples.ts'
import { Dialog } from '../../components/Dialog.tsx'
import { SnippetTabs } from '../../components/SnippetTabs.tsx'
import { agentSnippets } from '../../lib/agent-snippets.ts'
import type { CatalogModel } from './catalog-query.ts'
import { t } from '../../language/t.ts'

/** The commands that start agents with this model, without a secret: the dashboard shows one only when it is made. */
export function UseInAgents({ model }: { readonly model: CatalogModel }) {
  const [isOpen, setOpen] = useState(false)
  const snippets = agentSnippets({
    origin: window.location.origin,
    secret: PLACE_OF_SECRET,
    model: model.id,
  })
  return (
    <>
      <button
        type="button"
        onClick={() => setOpen(true)}
        aria-label={t('Usar em agentes: {displayName}', { displayName: model.display_name })}
        className="inline-flex min-h-11 items-center gap-1.5 text-xs font-medium text-accent hover:underline md:min-h-7"
      >
        <SquareTerminal aria-hidden="true" className="size-3.5 shrink-0" />
        {t('Usar em agentes')}
      </button>
      <Dialog
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        title={t('{displayName} em agentes', { displayName: model.display_name })}
        description={t('Coloque uma chave sua no lugar de {placeOfSecret}.', {
          placeOfSecret: PLACE_OF_SECRET,
        })}
        className="sm:max-w-2xl"
      >
        <SnippetTabs label={t('Agentes')} snippets={snippets} />
      </Dialog>
    </>
  )
}
