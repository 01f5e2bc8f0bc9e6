import type { ComponentProps } from 'react'
import type { Mask } from '../format/masks.ts'
import { Input } from './Input.tsx'

type MaskedInputProps = Omit<ComponentProps<'input'>, 'value' | 'defaultValue'> & {
  mask: Mask
  defaultValue?: string | undefined
}

/**
 * Adds punctuation while the user types. The value stays in the browser's field, for `FormData` to read. When
 * the user edits the middle of the text, the mask waits until the field loses the focus, because it would move
 * the caret to the end.
 */
export function MaskedInput({ mask, defaultValue, ...rest }: MaskedInputProps) {
  return (
    <Input
      {...rest}
      defaultValue={defaultValue === undefined ? undefined : mask(defaultValue)}
      onInput={({ currentTarget: input }) => {
        if (input.selectionStart === input.value.length) write(input, mask)
      }}
      onBlur={({ currentTarget: input }) => write(input, mask)}
    />
  )
}

function write(input: HTMLInputElement, mask: Mask): void {
  const masked = mask(input.value)
  if (masked !== input.value) input.value = masked
}
