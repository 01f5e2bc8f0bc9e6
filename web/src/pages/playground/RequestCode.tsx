import { Dialog } from '../../components/Dialog.tsx'
import { SnippetTabs } from '../../components/SnippetTabs.tsx'
import { chatBody } from './chat-settings.ts'
import { requestSnippets } from './request-snippets.ts'
import type { PlaygroundView } from './use-playground.ts'

interface Props {
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly view: PlaygroundView
  /** Stands in for the conversation while that is empty. */
  readonly draft: string
}

export function RequestCode({ isOpen, onClose, view, draft }: Props) {
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title="Ver código"
      description="A mesma chamada, feita pelo seu programa. Coloque sua chave em CATRACA_API_KEY."
      className="sm:max-w-2xl!"
    >
      <Code view={view} draft={draft} />
    </Dialog>
  )
}

function Code({ view, draft }: Pick<Props, 'view' | 'draft'>) {
  const { turns } = view.conversation
  // The request behind the last answer.
  const asked = turns.at(-1)?.kind === 'answer' ? turns.slice(0, -1) : turns
  const text = draft.trim() === '' ? 'Olá!' : draft.trim()
  const body = chatBody(
    asked.length === 0 ? [{ kind: 'user', id: '', text }] : asked,
    view.settings,
  )
  const snippets = requestSnippets(`${window.location.origin}/v1`, body)
  return <SnippetTabs label="A chamada em código" snippets={snippets} />
}
