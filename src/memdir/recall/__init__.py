"""The parts of recall that hooks do not import: catalog writer, choice by a model, answers."""
