import {
  useInfiniteQuery,
  type InfiniteData,
  type UseInfiniteQueryResult,
} from '@tanstack/react-query'
import { Search } from 'lucide-react'
import { useDeferredValue, useState } from 'react'
import type { Answer } from '../../api/client.ts'
import { Card } from '../../components/Card.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { Input } from '../../components/Input.tsx'
import { LoadMore } from '../../components/LoadMore.tsx'
import { SkeletonRows } from '../../components/SkeletonRows.tsx'
import { counted } from '../../format/number.ts'
import { DeletePrompt } from './DeletePrompt.tsx'
import { findPrompts, tagsOf } from './find-prompts.ts'
import { PromptEntry } from './PromptEntry.tsx'
import { promptsQuery, type Prompt } from './prompt-queries.ts'
import { useClonePrompt } from './use-prompt-acts.ts'
import { t } from '../../language/t.ts'

interface Props {
  readonly all: UseInfiniteQueryResult<InfiniteData<Answer<'get', '/me/prompts'>>>
}

/** Searches the loaded prompts at once; the API searches the others. */
export function PromptList({ all }: Props) {
  const [text, setText] = useState('')
  const [tag, setTag] = useState('')
  const [deleting, setDeleting] = useState<Prompt>()
  const clone = useClonePrompt()
  const q = useDeferredValue(text.trim())
  const isSearching = q !== '' || tag !== ''
  const searched = useInfiniteQuery({
    ...promptsQuery({ q, tag }),
    enabled: isSearching && all.hasNextPage,
  })
  const loaded = all.data?.pages.flatMap((page) => page.prompts) ?? []
  const others = searched.data?.pages.flatMap((page) => page.prompts) ?? []
  const prompts = isSearching ? findPrompts(loaded, others, { text: q, tag }) : loaded
  return (
    <div className="grid gap-4">
      <Filters text={text} onText={setText} tag={tag} onTag={setTag} tags={tagsOf(loaded)} />
      <p role="status" className="sr-only">
        {isSearching && counted(prompts.length, t('prompt encontrado'), t('prompts encontrados'))}
      </p>
      {prompts.length === 0 && searched.isFetching && (
        <Card>
          <SkeletonRows label={t('Procurando')} />
        </Card>
      )}
      {prompts.length === 0 && !searched.isFetching && (
        <Card>
          <EmptyState title={t('Nenhum prompt assim')}>
            {t('Tente outra palavra do nome ou da descrição, ou outra tag.')}
          </EmptyState>
        </Card>
      )}
      <ul className="grid gap-3">
        {prompts.map((prompt) => (
          <PromptEntry
            key={prompt.id}
            prompt={prompt}
            isCloning={clone.isPending && clone.variables.id === prompt.id}
            onClone={() => clone.mutate(prompt)}
            onDelete={() => setDeleting(prompt)}
          />
        ))}
      </ul>
      <LoadMore query={isSearching ? searched : all} />
      <DeletePrompt
        prompt={deleting}
        onClose={() => setDeleting(undefined)}
        onDeleted={() => setDeleting(undefined)}
      />
    </div>
  )
}

interface FiltersProps {
  readonly text: string
  readonly onText: (text: string) => void
  readonly tag: string
  readonly onTag: (tag: string) => void
  readonly tags: readonly string[]
}

function Filters({ text, onText, tag, onTag, tags }: FiltersProps) {
  return (
    <div className="grid gap-3">
      <div className="relative max-w-md">
        <Search
          aria-hidden="true"
          className="pointer-events-none absolute top-1/2 left-3 size-4 -translate-y-1/2 text-muted"
        />
        <Input
          type="search"
          aria-label={t('Procurar prompt')}
          placeholder={t('Procurar por nome, descrição ou tag')}
          maxLength={120}
          value={text}
          onChange={(event) => onText(event.target.value)}
          className="pl-9"
        />
      </div>
      {tags.length > 0 && (
        <div role="group" aria-label={t('Filtrar por tag')} className="flex flex-wrap gap-2">
          {tags.map((each) => (
            <button
              key={each}
              type="button"
              aria-pressed={each === tag}
              onClick={() => onTag(each === tag ? '' : each)}
              className="inline-flex min-h-11 items-center rounded-full border border-line-strong bg-surface px-3.5 text-sm font-medium hover:bg-sunken aria-pressed:border-accent aria-pressed:bg-accent-soft aria-pressed:text-accent md:min-h-8"
            >
              {each}
            </button>
          ))}
        </div>
      )}
    </div>
  )
}
