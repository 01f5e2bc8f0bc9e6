import { SquareTerminal } from 'lucide-react'
import { useState } from 'react'
import { PLACE_OF_SECRET } from '../../../../src/http/site/code-samples.ts'
import { Dialog } from '../../components/Dialog.tsx'
import { SnippetTabs } from '../../components/SnippetTabs.tsx'
import { agentSnippets } from '../../lib/agent-snippets.ts'
import type { CatalogModel } from './catalog-query.ts'

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
        aria-label={`Usar em agentes: ${model.display_name}`}
        className="inline-flex min-h-11 items-center gap-1.5 text-xs font-medium text-accent hover:underline md:min-h-7"
      >
        <SquareTerminal aria-hidden="true" className="size-3.5 shrink-0" />
        Usar em agentes
      </button>
      <Dialog
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        title={`${model.display_name} em agentes`}
        description={`Coloque uma chave sua no lugar de ${PLACE_OF_SECRET}.`}
        className="sm:max-w-2xl"
      >
        <SnippetTabs label="Agentes" snippets={snippets} />
      </Dialog>
    </>
  )
}
