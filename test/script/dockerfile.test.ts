import { expect, test } from 'vitest'
import { baseImages } from '../../script/dockerfile.ts'

test.each([
  ['a plain Dockerfile', 'FROM debian:bookworm-slim\nCMD ["bash"]\n', ['debian:bookworm-slim']],
  [
    'its own stages',
    'FROM rust:1 AS build\nFROM debian:12\nCOPY --from=build /a /a\nFROM Build\n',
    ['rust:1', 'debian:12'],
  ],
  ['nothing at all', 'FROM scratch\nCOPY a /a\n', []],
  ['a platform', 'FROM --platform=linux/amd64 node:24 as app\n', ['node:24']],
  ['the same image twice', 'FROM node:24 AS a\nFROM node:24\n', ['node:24']],
  // Which image that is can only be known with the build's arguments.
  ['a variable', 'ARG VERSION=24\nFROM node:$VERSION\n', []],
])('finds the images of a Dockerfile with %s', (_, dockerfile, images) => {
  expect(baseImages(dockerfile)).toEqual(images)
})
