import { Dialog } from '../../components/Dialog.tsx'
import { SnippetTabs } from '../../components/SnippetTabs.tsx'
import { chatBody } from './chat-settings.ts'
import type { Turn } from './conversation.ts'
import { imageSnippets, requestSnippets } from './request-snippets.ts'
import type { PlaygroundView } from './use-playground.ts'
import { t } from '../../language/t.ts'

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
      title={t('Ver código')}
      description={t(
        'A mesma chamada, feita pelo seu programa. Coloque sua chave em CATRACA_API_KEY.',
      )}
      className="sm:max-w-2xl!"
    >
      <Code view={view} draft={draft} />
    </Dialog>
  )
}

function Code({ view, draft }: Pick<Props, 'view' | 'draft'>) {
  const [first] = view.lanes
  const turns = first?.lane.turns ?? []
  // The request behind the last answer.
  const asked = turns.at(-1)?.kind === 'answer' ? turns.slice(0, -1) : turns
  const text = draft.trim() === '' ? t('Olá!') : draft.trim()
  const said = asked.length === 0 ? [{ kind: 'user', id: '', text } as const] : asked
  const baseUrl = `${window.location.origin}/v1`
  const model = first?.modelId ?? ''
  const last = said.findLast((turn) => turn.kind === 'user')
  const snippets =
    first?.model?.category === 'image'
      ? imageSnippets(baseUrl, { model, prompt: last?.kind === 'user' ? last.text : text })
      : requestSnippets(baseUrl, chatBody(model, said.map(withoutImageData), view.settings))
  return <SnippetTabs label={t('A chamada em código')} snippets={snippets} />
}

/** The data of an image is a million characters. */
function withoutImageData(turn: Turn): Turn {
  if (turn.kind !== 'user' || !turn.attachments) return turn
  const attachments = turn.attachments.map((attachment) =>
    attachment.kind === 'image'
      ? { ...attachment, content: `${attachment.content.slice(0, 32)}…` }
      : attachment,
  )
  return { ...turn, attachments }
}
