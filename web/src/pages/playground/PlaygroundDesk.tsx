import { useQuery } from '@tanstack/react-query'
import { BookmarkPlus, CodeXml, Eraser, SlidersHorizontal } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { ApiError } from '../../api/api-error.ts'
import { Button } from '../../components/Button.tsx'
import { Card } from '../../components/Card.tsx'
import { Dialog } from '../../components/Dialog.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { Notice } from '../../components/Notice.tsx'
import { PageTitle } from '../../components/PageTitle.tsx'
import { useFilters } from '../../lib/use-filters.ts'
import { promptQuery } from '../prompts/prompt-queries.ts'
import { changedCount } from './chat-settings.ts'
import { Composer } from './Composer.tsx'
import { KeyChoice } from './KeyChoice.tsx'
import { ModelChoice } from './ModelChoice.tsx'
import { RequestCode } from './RequestCode.tsx'
import { SavePrompt } from './SavePrompt.tsx'
import { SettingsFields } from './SettingsFields.tsx'
import { Thread } from './Thread.tsx'
import { useDraft } from './use-draft.ts'
import type { PlaygroundView } from './use-playground.ts'
import { useStayAtEnd } from './use-stay-at-end.ts'

type Opened = 'settings' | 'prompt' | 'code'

export function PlaygroundDesk({ view }: { readonly view: PlaygroundView }) {
  const { playground, conversation, settings } = view
  const [opened, setOpened] = useState<Opened>()
  const field = useRef<HTMLTextAreaElement>(null)
  const { prompt, draft, dropModel, dropPrompt } = useAddress(view)
  const { end, isAtEnd, goToEnd } = useStayAtEnd(conversation)
  const close = (): void => setOpened(undefined)
  const said = conversation.turns.find((turn) => turn.kind === 'user')?.text ?? draft.text
  return (
    <>
      <PageTitle
        title="Playground"
        description="Converse com qualquer modelo e veja quanto custa cada resposta."
        actions={
          <div className="flex flex-wrap gap-2">
            <Button
              variant="secondary"
              icon={<CodeXml aria-hidden="true" className="size-4" />}
              onClick={() => setOpened('code')}
            >
              Ver código
            </Button>
            <Button
              variant="secondary"
              icon={<BookmarkPlus aria-hidden="true" className="size-4" />}
              onClick={() => setOpened('prompt')}
            >
              Salvar<span className="-ml-1 max-sm:hidden">como prompt</span>
            </Button>
          </div>
        }
      />
      {prompt.isError && (
        <div className="mb-6">
          <PromptFault
            error={prompt.error}
            onRetry={() => void prompt.refetch()}
            onDrop={dropPrompt}
          />
        </div>
      )}
      <div className="grid gap-6 lg:grid-cols-[minmax(0,1fr)_19rem]">
        <div className="flex min-w-0 flex-col rounded-card border border-line bg-surface shadow-card lg:h-[calc(100dvh-12.5rem)] lg:min-h-[32rem]">
          <div className="flex flex-wrap gap-2 border-b border-line p-3">
            <div className="min-w-0 basis-full sm:basis-0 sm:grow">
              <ModelChoice
                models={view.models}
                modelId={settings.model}
                onChoose={(model) => {
                  playground.set({ model })
                  dropModel()
                }}
              />
            </div>
            <div className="min-w-0 grow basis-0">
              <KeyChoice view={view} />
            </div>
            <Button
              variant="secondary"
              className="px-3 lg:hidden"
              icon={<SlidersHorizontal aria-hidden="true" className="size-4" />}
              onClick={() => setOpened('settings')}
            >
              <span className="max-sm:sr-only">
                Ajustes{changedCount(settings) > 0 && ` (${changedCount(settings)})`}
              </span>
            </Button>
            <Button
              variant="secondary"
              className="px-3"
              aria-label="Limpar conversa"
              title="Limpar conversa"
              disabled={conversation.turns.length === 0}
              icon={<Eraser aria-hidden="true" className="size-4" />}
              onClick={() => {
                playground.clear()
                field.current?.focus()
              }}
            />
          </div>
          <Thread
            view={view}
            end={end}
            hasPrompt={draft.prompt !== undefined}
            onSuggest={(text) => {
              draft.write(text)
              field.current?.focus()
            }}
          />
          <Composer
            view={view}
            draft={draft}
            field={field}
            goToEnd={isAtEnd || conversation.turns.length === 0 ? undefined : goToEnd}
          />
        </div>
        <Card title="Ajustes" className="self-start max-lg:hidden">
          <SettingsFields view={view} />
        </Card>
      </div>
      <Dialog isOpen={opened === 'settings'} onClose={close} title="Ajustes">
        <SettingsFields view={view} />
      </Dialog>
      <SavePrompt
        isOpen={opened === 'prompt'}
        onClose={close}
        text={[settings.system.trim(), said].filter((part) => part !== '').join('\n\n')}
        model={settings.model}
      />
      <RequestCode isOpen={opened === 'code'} onClose={close} view={view} draft={draft.text} />
    </>
  )
}

interface PromptFaultProps {
  readonly error: unknown
  readonly onRetry: () => void
  readonly onDrop: () => void
}

function PromptFault({ error, onRetry, onDrop }: PromptFaultProps) {
  if (!(error instanceof ApiError) || error.status !== 404)
    return <ErrorState error={error} onRetry={onRetry} />
  return (
    <Notice tone="warning">
      Este prompt não existe mais: foi apagado ou é de outra conta.{' '}
      <button type="button" className="underline underline-offset-4" onClick={onDrop}>
        Conversar sem ele
      </button>
    </Notice>
  )
}

/** Reads `?modelo=` and `?prompt=` from the URL, until another model is chosen or the prompt is sent. */
function useAddress({ playground }: PlaygroundView) {
  const [{ modelo, prompt: promptId }, change] = useFilters('modelo', 'prompt')
  const prompt = useQuery({ ...promptQuery(promptId), enabled: promptId !== '' })
  const dropPrompt = (): void => {
    if (promptId !== '') change({ prompt: '' })
  }
  const draft = useDraft(promptId === '' ? undefined : prompt.data, dropPrompt)
  const wanted = modelo !== '' ? modelo : (promptId !== '' && prompt.data?.default_model) || ''
  useEffect(() => {
    if (wanted !== '') playground.set({ model: wanted })
  }, [playground, wanted])
  const dropModel = (): void => {
    if (modelo !== '') change({ modelo: '' })
  }
  return { prompt, draft, dropModel, dropPrompt }
}
