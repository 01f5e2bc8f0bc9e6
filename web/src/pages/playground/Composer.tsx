import { SendHorizontal, Square } from 'lucide-react'
import { useId, type RefObject } from 'react'
import { Button } from '../../components/Button.tsx'
import { Notice } from '../../components/Notice.tsx'
import { classNames } from '../../lib/class-names.ts'
import type { CatalogModel } from '../models/catalog-query.ts'
import { AttachButton, AttachmentList } from './AttachmentFields.tsx'
import { hasImages, type Attachment } from './conversation.ts'
import { PromptFields } from './PromptFields.tsx'
import type { Draft } from './use-draft.ts'
import { ConversationCost } from './ConversationCost.tsx'
import { NoPayingKey } from './NoPayingKey.tsx'
import { readTools } from './tools-text.ts'
import { useAttachments } from './use-attachments.ts'
import type { PlaygroundView } from './use-playground.ts'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

interface Props {
  readonly view: PlaygroundView
  readonly draft: Draft
  readonly field: RefObject<HTMLTextAreaElement | null>
  /** Undefined while the end is visible. */
  readonly goToEnd: (() => void) | undefined
}

export function Composer({ view, draft, field, goToEnd }: Props) {
  const { asked, isRunning, playground, keys } = view
  const id = useId()
  const attachments = useAttachments()
  const isBlind = findBlindModel(view, attachments.list) !== undefined
  const hasCost = view.conversation.costs.length > 0
  if (keys.length === 0)
    return (
      <div className="rounded-b-card border-t border-line bg-surface p-4 md:px-6">
        <NoPayingKey />
      </div>
    )
  const send = (): void => {
    if (!asked || isRunning || isBlind || attachments.isReading) return
    const text = draft.take()
    if (text === undefined) return
    playground.send(
      { text, ...(attachments.list.length > 0 && { attachments: attachments.list }) },
      asked,
    )
    attachments.clear()
  }
  return (
    // Files are dropped on it; by keyboard they are chosen with the button.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <form
      aria-label={t('Nova mensagem')}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
      onDragOver={(event) => {
        if (event.dataTransfer.types.includes('Files')) event.preventDefault()
      }}
      onDrop={(event) => {
        if (event.dataTransfer.files.length === 0) return
        event.preventDefault()
        void attachments.add([...event.dataTransfer.files])
      }}
      className="sticky bottom-14 z-10 grid gap-3 rounded-b-card border-t border-line bg-surface p-4 md:bottom-0 md:px-6 lg:relative"
    >
      {goToEnd && (
        <Button
          variant="secondary"
          className="absolute -top-13 left-1/2 -translate-x-1/2 shadow-lg md:-top-12"
          onClick={goToEnd}
        >
          {t('Ir para o fim')}
        </Button>
      )}
      <Faults view={view} attached={attachments.list} />
      {attachments.fault !== undefined && <Notice tone="warning">{attachments.fault}</Notice>}
      <PromptFields draft={draft} />
      <AttachmentList attachments={attachments} />
      <div className="flex items-end gap-2 rounded-xl border border-line-strong bg-surface p-1.5 has-[textarea:focus-visible]:outline-2 has-[textarea:focus-visible]:outline-offset-1 has-[textarea:focus-visible]:outline-accent">
        <AttachButton attachments={attachments} />
        <textarea
          ref={field}
          aria-label={t('Mensagem')}
          aria-describedby={id}
          rows={1}
          placeholder={t('Mensagem')}
          value={draft.text}
          onChange={(event) => draft.write(event.target.value)}
          onPaste={(event) => {
            if (event.clipboardData.files.length === 0) return
            event.preventDefault()
            void attachments.add([...event.clipboardData.files])
          }}
          onKeyDown={(event) => {
            // Enter also ends a composition of several keys, such as an accented letter.
            if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
            event.preventDefault()
            send()
          }}
          className="field-sizing-content max-h-52 min-h-11 min-w-0 grow resize-none bg-transparent px-2.5 py-2.5 text-base outline-none placeholder:text-muted md:min-h-10 md:py-2 md:text-sm"
        />
        {/* A single button for both actions, so that it keeps the focus. */}
        <Button
          type={isRunning ? 'button' : 'submit'}
          variant={isRunning ? 'secondary' : 'primary'}
          disabled={!isRunning && (!asked || isBlind || draft.text.trim() === '')}
          onClick={isRunning ? playground.stop : undefined}
          icon={
            isRunning ? (
              <Square aria-hidden="true" className="size-3.5 fill-current" />
            ) : (
              <SendHorizontal aria-hidden="true" className="size-4" />
            )
          }
        >
          <span className="max-sm:sr-only">{isRunning ? t('Parar') : t('Enviar')}</span>
        </Button>
      </div>
      <p id={id} className={classNames('text-xs text-muted', hasCost && 'sr-only')}>
        {t('Enter envia, Shift+Enter quebra a linha.')}
      </p>
      <ConversationCost conversation={view.conversation} />
    </form>
  )
}

/** A model that would have to read an image, and cannot. Image models get the text only. */
function findBlindModel(
  { lanes, conversation }: PlaygroundView,
  attached: readonly Attachment[],
): CatalogModel | undefined {
  if (!hasImages(conversation) && !attached.some(({ kind }) => kind === 'image')) return undefined
  return lanes
    .map(({ model }) => model)
    .find((model) => model?.category === 'llm' && model.price?.supports_images === false)
}

interface FaultsProps {
  readonly view: PlaygroundView
  readonly attached: readonly Attachment[]
}

/** The faults to correct before a message can be sent. */
function Faults({ view, attached }: FaultsProps) {
  const { settings, lanes, models, apiKey } = view
  if (!apiKey)
    return (
      <Notice tone="warning">
        {t('Suas chaves ativas são todas de equipes. Escolha acima qual delas paga esta conversa.')}
      </Notice>
    )
  if ('fault' in readTools(settings.tools))
    return (
      <Notice tone="warning">
        {t('As ferramentas em Ajustes têm um erro. Corrija para enviar.')}
      </Notice>
    )
  if (models.length === 0)
    return (
      <Notice tone="warning">
        <Trans
          id="A chave {name} não dá acesso a nenhum modelo de chat ou de imagem. Escolha outra."
          values={{ name: apiKey.name }}
        />
      </Notice>
    )
  const missing = lanes.find(({ model, modelId }) => !model && modelId !== '')
  if (missing)
    return (
      <Notice tone="warning">
        {apiKey.model_ids
          ? t('A chave {name} não usa {modelId}. Troque o modelo ou a chave.', {
              name: apiKey.name,
              modelId: missing.modelId,
            })
          : t('{modelId} não está no catálogo. Escolha outro modelo.', {
              modelId: missing.modelId,
            })}
      </Notice>
    )
  const blind = findBlindModel(view, attached)
  if (blind)
    return (
      <Notice tone="warning">
        <Trans
          id="{displayName} não lê imagens. Troque o modelo, tire a imagem ou comece uma conversa nova."
          values={{ displayName: blind.display_name }}
        />
      </Notice>
    )
  return null
}
